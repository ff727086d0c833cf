/// The name of a field, equal in any case (RFC 9110 section 5.1).
///
/// Well-known names have a number, which the parser finds, so that a look-up compares numbers. All others are
/// kept in lower case.
package struct HeaderName: Hashable, Sendable, CustomStringConvertible {
    /// The number of a well-known name; 0 for any other.
    let id: UInt8
    private let other: String

    /// Takes a name from configuration or code; nil unless it is a token (RFC 9110 section 5.6.2).
    package init?(_ text: String) {
        guard !text.isEmpty, text.utf8.allSatisfy(ASCII.isToken) else { return nil }
        self.init(token: text.utf8.span)
    }

    init(_ number: HeaderNumber) {
        id = number.rawValue
        other = ""
    }

    /// Takes a name that is known to be a token.
    init(token: Span<UInt8>) {
        id = HeaderNameTable.shared.id(of: token)
        other = id == 0 ? String(token).lowercased() : ""
    }

    /// The name as it is written: the conventional spelling of well-known names, else lower case.
    package var text: String { id == 0 ? other : HeaderNameTable.shared.spelling(of: id) }

    /// Writes the name as in a field line, with the colon and the blank behind it.
    func write(into output: inout [UInt8]) {
        if id != 0 { return HeaderNameTable.shared.write(id, into: &output) }
        output.append(other.utf8.span)
        output.append(": ")
    }

    package var description: String { text }

    /// True if a received name, in any case, is this one.
    func matches(id: UInt8, _ name: Span<UInt8>) -> Bool {
        guard self.id == id else { return false }
        return id != 0 || other.utf8.span.equalsIgnoringCase(name)
    }
}
