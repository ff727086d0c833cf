internal import RawStructuredFieldValues

/// The Use-As-Dictionary response field (RFC 9842 section 2.1).
package struct UseAsDictionary: Equatable, Sendable {
    /// The maximum length of the field; a longer one counts as malformed.
    package static let fieldBytesMax = 8192

    /// The URL Pattern of the requests that the dictionary is for, relative to its own URL.
    package let match: String
    /// The request destinations that the dictionary is for; empty for all.
    package let matchDest: [String]
    /// The id that the client sends back as Dictionary-ID; empty for none.
    package let id: String
    /// The life of the dictionary in seconds, an experimental member.
    package let ttl: Int?

    /// Makes a field; nil if a member is too long or cannot be written as a structured-field String.
    package init?(match: String, matchDest: [String] = [], id: String = "", ttl: Int? = nil) {
        guard !match.isEmpty, id.utf8.count <= DictionaryID.charactersMax,
            Self.isExpressible(match), Self.isExpressible(id), matchDest.allSatisfy(Self.isExpressible),
            (ttl ?? 0) >= 0,
            (ttl ?? 0) <= 999_999_999_999_999
        else { return nil }
        self.match = match
        self.matchDest = matchDest
        self.id = id
        self.ttl = ttl
    }

    /// Returns the same field with another id; nil if that cannot be written.
    package func with(id: String) -> UseAsDictionary? {
        UseAsDictionary(match: match, matchDest: matchDest, id: id, ttl: ttl)
    }

    /// Reads the lines as a client must; nil without a valid `match`, or with a `type` other than `raw`.
    ///
    /// A `ttl` that is not a whole number of seconds is ignored: it is an extension, and the rest holds without it.
    package static func parse(_ lines: [String]) -> UseAsDictionary? {
        let joined = lines.joined(separator: ", ")
        guard joined.utf8.count <= fieldBytesMax else { return nil }
        var parser = StructuredFieldValueParser(Array(joined.utf8))
        guard let members = try? parser.parseDictionaryFieldValue(),
            let match = members["match"]?.bareString,
            let id = members["id"].map(\.bareString) ?? "",
            let type = members["type"].map(\.bareToken) ?? "raw", type == "raw",
            let matchDest = members["match-dest"].map(\.strings) ?? []
        else { return nil }
        return UseAsDictionary(match: match, matchDest: matchDest, id: id, ttl: members["ttl"]?.bareSeconds)
    }

    package var serialized: String {
        var text = "match=" + FieldSyntax.quoted(match)
        if !matchDest.isEmpty {
            text += ", match-dest=(" + matchDest.map(FieldSyntax.quoted).joined(separator: " ") + ")"
        }
        if !id.isEmpty { text += ", id=" + FieldSyntax.quoted(id) }
        if let ttl { text += ", ttl=\(ttl)" }
        return text
    }

    /// RFC 9651 section 3.3.3: a String has printable ASCII characters only.
    private static func isExpressible(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }
}

extension ItemOrInnerList {
    fileprivate var bareString: String? {
        guard case .item(let item) = self, case .string(let text) = item.rfc9651BareItem else { return nil }
        return text
    }

    fileprivate var bareToken: String? {
        guard case .item(let item) = self, case .token(let text) = item.rfc9651BareItem else { return nil }
        return text
    }

    fileprivate var bareSeconds: Int? {
        guard case .item(let item) = self, case .integer(let value) = item.rfc9651BareItem, value >= 0 else {
            return nil
        }
        return Int(value)
    }

    fileprivate var strings: [String]? {
        guard case .innerList(let list) = self else { return nil }
        var strings: [String] = []
        for item in list.bareInnerList {
            guard case .string(let text) = item.rfc9651BareItem else { return nil }
            strings.append(text)
        }
        return strings
    }
}
