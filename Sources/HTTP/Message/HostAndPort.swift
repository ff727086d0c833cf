/// The host and port of an authority (RFC 3986 section 3.2), without user information.
package struct HostAndPort {
    /// The host; IPv6 addresses are without brackets.
    package let host: String
    package let port: UInt16?

    /// Parses `host`, `host:port`, `[v6]` or `[v6]:port`.
    package init?(_ text: some StringProtocol) {
        let name: Substring
        let tail: Substring
        let text = Substring(text)
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            name = text[text.index(after: text.startIndex)..<end]
            tail = text[text.index(after: end)...]
            guard name.contains(":"), IPAddress(String(name)) != nil else { return nil }
        } else {
            name = text.prefix { $0 != ":" }
            tail = text[name.endIndex...]
            guard Self.isName(name) else { return nil }
        }
        guard tail.isEmpty || tail.first == ":" else { return nil }
        let digits = tail.dropFirst()
        guard tail.isEmpty == digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isWholeNumber }) else {
            return nil
        }
        port = UInt16(digits)
        guard digits.isEmpty || port != nil else { return nil }
        host = String(name)
    }

    /// Returns true for IPv4 addresses and possible host names (RFC 1123 section 2.1, and `_`).
    private static func isName(_ text: Substring) -> Bool {
        let looksNumeric = text.unicodeScalars.allSatisfy { $0 == "." || "0"..."9" ~= $0 }
        if looksNumeric { return IPAddress(String(text)) != nil }
        return text.utf8.count <= 253
            && text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
                1...63 ~= label.utf8.count && label.first != "-" && label.last != "-"
                    && label.unicodeScalars.allSatisfy {
                        $0.isASCII && ($0.properties.isAlphabetic || "0"..."9" ~= $0) || $0 == "-"
                            || $0 == "_"
                    }
            }
    }
}
