internal import Primitives

/// The parts of an http or https URL that dictionaries depend on (RFC 9110 section 7.1).
package struct TargetURI: Hashable, Sendable {
    /// The scheme, host and port, to which dictionaries are confined (RFC 9842 section 2.1.1).
    package let origin: String
    /// The percent-encoded path; `/` at least.
    package let path: String
    /// The percent-encoded text behind the question mark; nil without one.
    package let query: String?
    /// True if a client may use dictionaries there: over https, and on the client's own machine.
    package let isTrustworthy: Bool

    /// Takes the parts of a URL; an IPv6 address may have its brackets.
    package init(isTLS: Bool, host: String, port: Int?, path: String, query: String?) {
        let host = host.lowercased()
        let isLiteral = host.utf8.contains(UInt8(ascii: ":")) && !host.hasPrefix("[")
        let name = isLiteral ? "[\(host)]" : host
        let port = port == (isTLS ? 443 : 80) ? nil : port
        origin = (isTLS ? "https://" : "http://") + name + (port.map { ":\($0)" } ?? "")
        self.path = path.isEmpty ? "/" : path
        self.query = query
        isTrustworthy = isTLS || Self.isLoopback(name)
    }

    /// Takes the parts of a URL; nil unless it is http or https with a host.
    package init?(scheme: String?, host: String?, port: Int?, path: String, query: String?) {
        guard let scheme = scheme?.lowercased(), scheme == "http" || scheme == "https", let host,
            !host.isEmpty
        else { return nil }
        self.init(isTLS: scheme == "https", host: host, port: port, path: path, query: query)
    }

    package var text: String { origin + path + (query.map { "?" + $0 } ?? "") }

    /// Returns true for names and addresses that are potentially trustworthy without TLS (W3C Secure Contexts section
    /// 3.1).
    package static func isLoopback(_ host: String) -> Bool {
        let host = host.lowercased()
        if host == "localhost" || host.hasSuffix(".localhost") || ["::1", "[::1]"].contains(host) {
            return true
        }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
