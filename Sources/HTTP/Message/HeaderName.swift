/// The name of a header field: equal whatever its case (RFC 9110 section 5.1).
///
/// Names that the program or the Web uses often have a number, found while a head is parsed, so that looking one up compares
/// numbers only; all others are kept in lower case.
package struct HeaderName: Hashable, Sendable, CustomStringConvertible {
    /// The number of a well-known name; 0 for any other.
    let id: UInt8
    private let other: String

    /// Takes a name from configuration or code, nil unless it is a token (RFC 9110 section 5.6.2).
    package init?(_ text: String) {
        guard !text.isEmpty, text.utf8.allSatisfy(ASCII.isToken) else { return nil }
        self.init(token: text.utf8.span)
    }

    /// A well-known name.
    init(_ number: HeaderNumber) {
        id = number.rawValue
        other = ""
    }

    /// Takes a name that is known to be a token.
    init(token: Span<UInt8>) {
        id = HeaderNameTable.shared.id(of: token)
        other = id == 0 ? String(token).lowercased() : ""
    }

    /// The name as we write it: conventional spelling for well-known names, else lower case.
    package var text: String { id == 0 ? other : HeaderNameTable.shared.spelling(of: id) }

    /// Writes it as a field line has it, with the colon and the blank behind it.
    func write(into output: inout [UInt8]) {
        if id != 0 { return HeaderNameTable.shared.write(id, into: &output) }
        output.append(other.utf8.span)
        output.append(": ")
    }

    /// The same as `text`.
    package var description: String { text }

    /// Tells whether a received name, in any case, is this one.
    func matches(id: UInt8, _ name: Span<UInt8>) -> Bool {
        guard self.id == id else { return false }
        return id != 0 || other.utf8.span.equalsIgnoringCase(name)
    }
}
