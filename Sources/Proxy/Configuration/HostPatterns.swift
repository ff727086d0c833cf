internal import HTTP
internal import Primitives

/// The hosts of a route: names, and `*.` with a domain for all names below it.
package struct HostPatterns: Sendable, Equatable {
    /// The maximum number of patterns per route.
    static let countMax = 64
    /// The maximum length of a host; names of DNS have 253 bytes at most.
    static let bytesMax = 256

    /// The patterns in their order, in normal form.
    let patterns: [String]

    init(_ patterns: [String]) { self.patterns = patterns.map { Self.normal($0.lowercased()) } }

    /// Returns a host in lower case with the usual text of an IPv6 address (RFC 5952).
    private static func normal(_ host: String) -> String {
        guard host.hasPrefix("["), host.hasSuffix("]"),
            let address = IPAddress(String(host.dropFirst().dropLast()))
        else { return host }
        return "[\(address.text)]"
    }

    var text: String { patterns.joined(separator: ",") }

    /// Returns true if a text is a host without a port, or `*.` and a domain.
    static func isItem(_ text: String) -> Bool {
        let name = text.hasPrefix("*.") ? text.dropFirst(2) : text[...]
        guard !name.isEmpty, text.utf8.count <= bytesMax, !name.hasSuffix("."), !name.hasPrefix("."),
            let parts = HostAndPort(name), parts.port == nil
        else { return false }
        return !name.hasPrefix("[") || name.count == text.count
    }

    /// Returns true if these patterns match every host that the others match.
    func covers(_ other: HostPatterns) -> Bool {
        other.patterns.allSatisfy { pattern in
            patterns.contains { $0 == pattern || Self.isBelow(pattern, domain: $0) }
        }
    }

    /// Returns true if both match some host.
    func meets(_ other: HostPatterns) -> Bool {
        patterns.contains { other.contains(host: $0) } || other.patterns.contains { contains(host: $0) }
    }

    /// Returns true if a pattern is for a host of the request that `HostPatterns.host` returns.
    func contains(host: String) -> Bool {
        patterns.contains { $0 == host || Self.isBelow(host, domain: $0) }
    }

    /// Returns true if a name or a pattern is below the domain of a pattern such as `*.example.com`.
    private static func isBelow(_ name: String, domain: String) -> Bool {
        guard domain.hasPrefix("*.") else { return false }
        let end = domain.utf8.dropFirst()
        return name.utf8.count > end.count && name.utf8.suffix(end.count).elementsEqual(end)
    }

    /// Returns the host of an authority in normal form, without its port and a dot at its end.
    static func host(of authority: String) -> String {
        let bytes = authority.utf8
        var end = bytes.endIndex
        // The colons of an IPv6 address stand before its bracket.
        if let colon = bytes.lastIndex(of: ASCII.colon), !bytes[colon...].contains(UInt8(ascii: "]")) {
            end = colon
        }
        if end > bytes.startIndex, bytes[bytes.index(before: end)] == UInt8(ascii: ".") {
            end = bytes.index(before: end)
        }
        return normal(end == bytes.endIndex ? authority : String(authority[..<end]))
    }
}

extension SettingType where Value == HostPatterns? {
    /// A host or a list of hosts; nil for every host.
    static let hosts = {
        let word = SettingType<String>.word(
            "a host without a port, such as api.example.com, or *.example.com for all names below it"
        ) { HostPatterns.isItem($0) }
        let list = SettingType<[String]>.list(word, 1...HostPatterns.countMax)
        return SettingType(
            expectation: word.expectation + "; or a list of hosts",
            read: { node, reader in
                if case .list = node.content { return list.read(node, &reader).map(HostPatterns.init) }
                return word.read(node, &reader).map { HostPatterns([$0]) }
            },
            write: { hosts in
                guard let patterns = hosts?.patterns else { return "" }
                return patterns.count == 1 ? patterns[0].inYAML : list.write(patterns)
            })
    }()
}
