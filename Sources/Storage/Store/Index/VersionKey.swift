package import Dictionaries
internal import Primitives

/// The key under which versions replace each other: a chain, a URL and a variant.
///
/// Each new body of a key becomes its newest version; the older ones stay in the chain.
package struct VersionKey: Hashable, Sendable {
    package var chainKey: ChainKey
    /// The path and query as requested.
    package let url: String
    /// The request fields that the response varies on, as `VariantKey` writes them.
    package let variant: String

    package init(chain: ChainKey, url: String, variant: String) {
        self.chainKey = chain
        self.url = url
        self.variant = variant
    }

    /// The key of the dictionaries that are learned for a chain of many paths, such as that of `/items/*`.
    ///
    /// Its query tells them from the operator's and from bodies that an upstream offers for these paths (`isUpstreamMatch`).
    package init(learnedFor chain: ChainKey) {
        self.init(chain: chain, url: Self.learnedURL(of: chain), variant: "")
    }

    static func learnedURL(of chain: ChainKey) -> String { chain.match + "?learned" }

    /// The bytes of the texts that name a version of this key.
    var nameBytes: Int { chainKey.match.utf8.count + url.utf8.count + variant.utf8.count }

    /// Returns the key under its names in the scope of its chain.
    func named(_ keys: StoreKeys?) -> VersionKey {
        guard chainKey.scope.isSealed else { return self }
        return VersionKey(
            chain: chainKey, url: chainKey.scope.name(of: url, as: .url, keys),
            variant: chainKey.scope.name(of: variant, as: .variant, keys))
    }
}

/// The canonical text of the request fields that a response varies on.
package enum VariantKey {
    /// Returns the text for a combination of values; no other combination has the same.
    ///
    /// Each name and value is preceded by its length, so that no value can imitate the next field. A long value, and one that
    /// is not ASCII, is replaced by its SHA-256, behind another sign, so that no value can imitate it either: texts with other
    /// bytes may be equal.
    /// Accept-Encoding, Available-Dictionary and Dictionary-ID are left out: they choose the coding, not the
    /// body (RFC 9842 section 6.2). `values` gets lower-case names. It returns nil for a missing field, which
    /// differs from an empty one. The operation that the request's body names follows: its names have braces, which those
    /// of fields have not.
    package static func make(
        names: [String], operation: RequestOperation? = nil, values: (String) -> [UInt8]?
    ) -> String {
        guard !names.isEmpty || operation != nil else { return "" }
        let fields = Set(names.map { $0.lowercased() }).subtracting([
            "accept-encoding", "available-dictionary", "dictionary-id",
        ])
        var text = ""
        for name in fields.sorted() {
            text += "\(name.utf8.count):\(name)"
            if let value = values(name) { text += written(value, of: name) }
            text += ";"
        }
        for (name, value) in operation?.members ?? [] {
            text += "\(name.utf8.count + 2):{\(name)}\(written(Array(value.utf8), of: ""));"
        }
        return text
    }

    private static func written(_ value: [UInt8], of name: String) -> String {
        var whole = value
        if value.allSatisfy({ $0 < 0x80 }) {
            let text = normalized(String(decoding: value, as: UTF8.self), of: name)
            if text.utf8.count <= valueBytesMax { return "=\(text.utf8.count):\(text)" }
            whole = Array(text.utf8)
        }
        let digest = Digest(of: whole.span).base64URL
        return "#\(digest.utf8.count):\(digest)"
    }

    /// Returns the normalized value of a field.
    ///
    /// White space between the members of a list has no meaning (RFC 9110 section 5.6.1), nor has the case of
    /// languages and charsets (sections 8.4.1 and 12.5.4) or of an origin.
    private static func normalized(_ value: String, of name: String) -> String {
        let text = isList(name) && !value.contains("\"") ? members(of: value) : value
        return isCaseless(name) ? text.lowercased() : text
    }

    private static let valueBytesMax = 128

    private static func isList(_ name: String) -> Bool {
        name == "accept" || name == "accept-language" || name == "accept-charset"
    }

    private static func isCaseless(_ name: String) -> Bool {
        name == "accept-language" || name == "accept-charset" || name == "origin"
    }

    private static func members(of value: String) -> String {
        value.split(separator: ",").map(\.trimmed).joined(separator: ",")
    }

    /// True if a request with these values gives the same text.
    package static func fits(_ key: String, values: (String) -> [UInt8]?) -> Bool {
        guard let names = names(in: key) else { return false }
        return make(names: names, values: values) == key
    }

    /// Returns the names that a text was made of; nil if `make` did not make it.
    package static func names(in key: String) -> [String]? {
        var names: [String] = []
        var rest = key.utf8[...]
        while !rest.isEmpty {
            guard let name = counted(&rest) else { return nil }
            names.append(name)
            if rest.first == UInt8(ascii: "=") || rest.first == UInt8(ascii: "#") {
                rest = rest.dropFirst()
                guard counted(&rest) != nil else { return nil }
            }
            guard rest.popFirst() == UInt8(ascii: ";") else { return nil }
        }
        return names
    }

    /// Returns the names of the fields that a text was made of, without those of an operation.
    package static func fieldNames(in key: String) -> [String] {
        (names(in: key) ?? []).filter { $0.utf8.first != UInt8(ascii: "{") }
    }

    /// Parses `N:` and N bytes.
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
