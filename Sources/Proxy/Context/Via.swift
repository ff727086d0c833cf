internal import HTTP

/// The member that this process adds to Via (RFC 9110 section 7.6.3), and by which it knows its requests when they return.
///
/// Its pseudonym is random, so that two instances of Dictum in a row are no loop. A class, because requests hold it.
final class Via: Sendable {
    let pseudonym: String
    private let http10: String
    private let http11: String
    private let http2: String

    convenience init() {
        self.init(pseudonym: "dictum-" + String(UInt32.random(in: .min ... .max) | 1 << 31, radix: 16))
    }

    init(pseudonym: String) {
        self.pseudonym = pseudonym
        http10 = "1.0 \(pseudonym)"
        http11 = "1.1 \(pseudonym)"
        http2 = "2.0 \(pseudonym)"
    }

    /// Returns the member for a request that came in this version.
    func member(receivedBy version: HTTPVersion) -> String {
        switch version {
        case .http10: http10
        case .http11: http11
        case .http2: http2
        }
    }

    /// Returns true if a request has been forwarded by this process before.
    func isLoop(_ headers: borrowing Headers) -> Bool {
        guard headers.contains(.via) else { return false }
        return headers.values(.via).contains { value in
            value.split(separator: ",").contains { member in
                // `received-protocol RWS received-by [ RWS comment ]`
                member.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.map(String.init)
                    == pseudonym
            }
        }
    }
}
