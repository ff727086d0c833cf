internal import HTTP

/// The member that this process adds to Via (RFC 9110 section 7.6.3), and by which it knows its requests when they return.
///
/// Its pseudonym is random, so that two instances of Dictum in a row are no loop. A class, because requests hold it.
final class Via: Sendable {
    let pseudonym: String
    private let http10: Headers
    private let http11: Headers
    private let http2: Headers

    convenience init() {
        self.init(pseudonym: "dictum-" + String(UInt32.random(in: .min ... .max) | 1 << 31, radix: 16))
    }

    init(pseudonym: String) {
        self.pseudonym = pseudonym
        func line(_ protocolVersion: String) -> Headers {
            var line = Headers()
            line.append(.via, "\(protocolVersion) \(pseudonym)")
            return line
        }
        (http10, http11, http2) = (line("1.0"), line("1.1"), line("2.0"))
    }

    /// Returns the line for a request that came in this version.
    func line(receivedBy version: HTTPVersion) -> Headers {
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
