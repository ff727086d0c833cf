/// The canonical text of the request fields that an answer varies on.
package enum VariantKey {
    /// One text for one combination of values, which no other combination can make.
    ///
    /// Each name and value is preceded by its length, so that no value can pretend to be the next field.
    /// Accept-Encoding, Available-Dictionary and Dictionary-ID are left out: they choose the coding, not the body (RFC 9842
    /// section 6.2). `values` gets lower-case names and gives nil for a field that the request does not have,
    /// which is not the same as an empty one.
    package static func make(names: [String], values: (String) -> String?) -> String {
        guard !names.isEmpty else { return "" }
        let fields = Set(names.map { $0.lowercased() }).subtracting([
            "accept-encoding", "available-dictionary", "dictionary-id",
        ])
        var text = ""
        for name in fields.sorted() {
            text += "\(name.utf8.count):\(name)"
            if let value = values(name).map({ normalized($0, of: name) }) {
                text += "=\(value.utf8.count):\(value)"
            }
            text += ";"
        }
        return text
    }

    /// The value of a field as variants are told apart by it.
    ///
    /// White space between the members of a list says nothing (RFC 9110 section 5.6.1), nor does the case of languages and
    /// charsets (sections 8.4.1 and 12.5.4) or of an origin. A long value is named by its SHA-256.
    static func normalized(_ value: String, of name: String) -> String {
        let text = isList(name) && !value.contains("\"") ? members(of: value) : value
        let cased = isCaseless(name) ? text.lowercased() : text
        guard cased.utf8.count > valueBytesMax else { return cased }
        let bytes = cased.utf8
        return "sha-256 " + Digest(of: bytes.span).base64URL
    }

    private static let valueBytesMax = 128

    private static func isList(_ name: String) -> Bool {
        name == "accept" || name == "accept-language" || name == "accept-charset"
    }

    private static func isCaseless(_ name: String) -> Bool {
        name == "accept-language" || name == "accept-charset" || name == "origin"
    }

    private static func members(of value: String) -> String {
        value.split(separator: ",").map { member in
            String(
                member.drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed()
            )
        }.joined(separator: ",")
    }

    /// Whether a request with these values makes the same text.
    package static func fits(_ key: String, values: (String) -> String?) -> Bool {
        guard let names = names(in: key) else { return false }
        return make(names: names, values: values) == key
    }

    /// The names that a text was made of; nil where it is none of ours.
    package static func names(in key: String) -> [String]? {
        var names: [String] = []
        var rest = key.utf8[...]
        while !rest.isEmpty {
            guard let name = counted(&rest) else { return nil }
            names.append(name)
            if rest.first == UInt8(ascii: "=") {
                rest = rest.dropFirst()
                guard counted(&rest) != nil else { return nil }
            }
            guard rest.popFirst() == UInt8(ascii: ";") else { return nil }
        }
        return names
    }

    /// Takes `N:` and N bytes.
    private static func counted(_ rest: inout Substring.UTF8View) -> String? {
        guard let colon = rest.firstIndex(of: UInt8(ascii: ":")),
            let count = Int(Substring(rest[..<colon])), count >= 0
        else { return nil }
        rest = rest[rest.index(after: colon)...]
        guard rest.count >= count else { return nil }
        let text = String(Substring(rest.prefix(count)))
        rest = rest.dropFirst(count)
        return text
    }
}
