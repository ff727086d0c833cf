/// Where requests are sent: by which scheme, in whose name, and at which of its addresses.
///
/// Two targets at one address are two: a connection made in one's name is none of the other's.
package struct UpstreamTarget: Sendable, Hashable {
    /// What is spoken on the connection.
    package enum Scheme: String, Sendable {
        case http
        case https
    }

    /// What is spoken there.
    package let scheme: Scheme
    /// The host, and the port if it was given, as it was configured.
    package let authority: String
    /// The address.
    package let endpoint: Endpoint

    /// The host of the authority, an IPv6 address without its brackets: whose certificate is asked for.
    var host: String {
        guard authority.hasPrefix("[") else { return String(authority.prefix { $0 != ":" }) }
        return String(authority.dropFirst().prefix { $0 != "]" })
    }

    /// Puts a target together.
    package init(scheme: Scheme, authority: String, endpoint: Endpoint) {
        self.scheme = scheme
        self.authority = authority
        self.endpoint = endpoint
    }
}
