/// The canonical text of the request fields that an answer varies on.
package enum VariantKey {
    /// One text for one combination of values, which no other combination can make.
    ///
    /// Each name and value is preceded by its length, so that no value can pretend to be the next field.
    /// Accept-Encoding and Available-Dictionary are left out: they choose the coding, not the body (RFC 9842
    /// section 6.2). `values` gets lower-case names and gives nil for a field that the request does not have,
    /// which is not the same as an empty one.
    package static func make(names: [String], values: (String) -> String?) -> String {
        guard !names.isEmpty else { return "" }
        let fields = Set(names.map { $0.lowercased() }).subtracting([
            "accept-encoding", "available-dictionary",
        ])
        var text = ""
        for name in fields.sorted() {
            text += "\(name.utf8.count):\(name)"
            if let value = values(name) {
                text += "=\(value.utf8.count):\(value)"
            }
            text += ";"
        }
        return text
    }

    /// Whether a request with these values makes the same text.
    package static func fits(_ key: String, values: (String) -> String?) -> Bool {
        guard let names = names(in: key) else { return false }
        return make(names: names, values: values) == key
    }

    /// The names that a text was made of; nil where it is none of ours.
    private static func names(in key: String) -> [String]? {
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
