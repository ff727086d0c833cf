internal import HTTP

/// The member that this process adds to Via (RFC 9110 section 7.6.3), and by which it knows its requests when they return.
///
/// Its pseudonym is random, so that two instances of Dictum in a row are no loop. A class, because requests hold it.
final class Via: Sendable {
    let pseudonym: String
    /// By the raw value of the version in which a request came.
    private let lines: [Headers]

    init(pseudonym: String = "dictum-" + String(UInt32.random(in: .min ... .max) | 1 << 31, radix: 16)) {
        self.pseudonym = pseudonym
        lines = ["1.0", "1.1", "2.0"].map { version in
            var line = Headers()
            line.append(.via, "\(version) \(pseudonym)")
            return line
        }
    }

    /// Returns the line for a request that came in this version.
    func line(receivedBy version: HTTPVersion) -> Headers { lines[version.rawValue] }

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
