internal import COpenSSL

/// The latest TLS session of one loop with each upstream, for the next handshake.
///
/// Confined to its loop.
@safe final class TLSSessions {
    /// The upstream of a session.
    struct Place: Hashable {
        let host: String
        let endpoint: Endpoint
    }

    private static let countMax = 1024

    // Owned: each is freed when it is replaced, forgotten, or with this object.
    private var sessions: [Place: OpaquePointer] = unsafe [:]

    deinit { forgetAll() }

    // Safe, here and below: a session is freed only when it leaves the dictionary.
    /// Returns the latest session, which this object keeps.
    func find(_ place: Place) -> OpaquePointer? { unsafe sessions[place] }

    /// Takes over a session in place of the former one.
    func put(_ session: OpaquePointer, at place: Place) {
        if unsafe sessions.count >= Self.countMax, unsafe sessions[place] == nil { forgetAll() }
        if let former = unsafe sessions.updateValue(session, forKey: place) {
            unsafe SSL_SESSION_free(former)
        }
    }

    /// Forgets all sessions, so that every connection makes a full handshake.
    func forgetAll() {
        unsafe sessions.values.forEach { unsafe SSL_SESSION_free($0) }
        unsafe sessions = [:]
    }
}
