internal import COpenSSL

/// The sessions of one loop with its upstreams, the latest of each, for the next handshake.
///
/// Confined to its loop.
@safe final class TLSSessions {
    /// Where a session is resumed.
    struct Place: Hashable {
        let host: String
        let endpoint: Endpoint
    }

    private static let countMax = 1024

    // Owned: each is freed when it is replaced, forgotten, or with this object.
    private var sessions: [Place: OpaquePointer] = unsafe [:]

    deinit { forgetAll() }

    // Safe, here and below: a session is freed when it leaves the dictionary, and in no other place.
    /// The latest session; it stays this object's.
    func find(_ place: Place) -> OpaquePointer? { unsafe sessions[place] }

    /// Takes a session over in place of the former.
    func put(_ session: OpaquePointer, at place: Place) {
        if unsafe sessions.count >= Self.countMax, unsafe sessions[place] == nil { forgetAll() }
        if let former = unsafe sessions.updateValue(session, forKey: place) {
            unsafe SSL_SESSION_free(former)
        }
    }

    /// Begins every session anew from here on.
    func forgetAll() {
        unsafe sessions.values.forEach { unsafe SSL_SESSION_free($0) }
        unsafe sessions = [:]
    }
}
