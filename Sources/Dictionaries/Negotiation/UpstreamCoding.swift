/// The upstream's coding of a response.
package enum UpstreamCoding: Equatable, Sendable {
    /// The response is not coded.
    case none
    /// One coding that Dictum can undo: gzip, br or zstd.
    case known(ContentCoding)
    /// Another coding or several: the body must stay unchanged.
    case foreign

    /// Reads the members of Content-Encoding in their order.
    package init(_ members: [String]) {
        self = .none
        for member in members {
            let bytes = member.utf8
            add(bytes.span)
        }
    }

    /// Adds the next member of Content-Encoding.
    package mutating func add(_ member: Span<UInt8>) {
        func isNamed(_ word: String) -> Bool {
            FieldSyntax.equals(0..<member.count, in: member, ignoringCase: word)
        }
        // RFC 9110 section 8.4.1: identity ought not to be sent in Content-Encoding, and means nothing there.
        if isNamed("identity") { return }
        guard case .none = self else {
            self = .foreign
            return
        }
        if isNamed("gzip") || isNamed("x-gzip") {
            self = .known(.gzip)
        } else if isNamed("br") {
            self = .known(.br)
        } else {
            self = isNamed("zstd") ? .known(.zstd) : .foreign
        }
    }
}
