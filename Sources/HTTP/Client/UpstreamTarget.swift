/// The destination of requests: a scheme, an authority and one of its addresses.
///
/// Targets with different authorities at one address are distinct: a connection made for one is not used for
/// the other.
package struct UpstreamTarget: Sendable, Hashable {
    package enum Scheme: String, Sendable {
        case http
        case https
    }

    package let scheme: Scheme
    /// The host and optional port, as configured.
    package let authority: String
    package let endpoint: Endpoint

    /// The host of the authority, an IPv6 address without its brackets; the name in the certificate.
    var host: String {
        guard authority.hasPrefix("[") else { return String(authority.prefix { $0 != ":" }) }
        return String(authority.dropFirst().prefix { $0 != "]" })
    }

    package init(scheme: Scheme, authority: String, endpoint: Endpoint) {
        self.scheme = scheme
        self.authority = authority
        self.endpoint = endpoint
    }
}
