internal import HTTP
internal import Primitives

/// The peer of a client's connection, and what it says of the client in forwarding fields if it is trusted.
///
/// Made once per connection and configuration; the connection keeps it.
final class ClientPeer {
    /// True if the peer is a proxy of the operator's own, so that its forwarding fields count.
    let isTrusted: Bool
    /// The address of the peer: 4 or 16 bytes, none for a unix socket.
    let address: IPAddress?

    /// True if its connection is TLS, here or by a PROXY header; nil if neither tells.
    let isTLS: Bool?

    /// Facts of its own TLS session; nil without TLS.
    let tls: TLSFacts?

    /// The address as X-Forwarded-For has it.
    let text: String

    /// X-Forwarded-For and X-Forwarded-Proto of a peer that is the client itself.
    let fields: Headers

    private let networks: [TrustedNetwork]
    /// The length of the IPv6 prefix that is one client where clients share something.
    private let ipv6Prefix: Int
    /// The use of the connection, for all of its clients.
    private let connectionUse = ClientUse(isKnown: false)
    /// The share of the peer if it is the client itself, or else of the last client that it named.
    private var known: ClientShare?
    /// The number of reloads before the configuration that names the trusted networks.
    private let generation: Int

    /// Returns the peer of a connection; made on its first request, and on the first after a reload.
    static func of(
        _ connection: ConnectionFacts, trusting networks: [TrustedNetwork], ipv6Prefix: Int, generation: Int
    ) -> ClientPeer {
        if let known = connection.attachment as? ClientPeer, known.generation == generation { return known }
        let peer = ClientPeer(
            connection.peer, isTLS: connection.isPeerTLS, tls: connection.tls, trusting: networks,
            ipv6Prefix: ipv6Prefix, generation: generation)
        connection.attachment = peer
        return peer
    }

    init(
        _ peer: Endpoint?, isTLS: Bool? = nil, tls: TLSFacts? = nil, trusting networks: [TrustedNetwork],
        ipv6Prefix: Int = IPAddress.clientPrefix, generation: Int = 0
    ) {
        self.isTLS = isTLS
        self.tls = tls
        self.generation = generation
        self.networks = networks
        self.ipv6Prefix = ipv6Prefix
        if case .ip(let address, _)? = peer { self.address = address } else { address = nil }
        text = address?.text ?? "unknown"
        isTrusted = networks.contains(peer)
        var fields = Headers()
        fields.append(.xForwardedFor, text)
        fields.append(.xForwardedProto, isTLS == true ? "https" : "http")
        self.fields = fields
    }

    /// Returns true if the client's transport is secure (RFC 9842 section 8), by the setting `secure_transport`.
    func isTransportSecure(_ headers: borrowing Headers, setting: Configuration.SecureTransport) -> Bool {
        switch setting {
        case .assume: return true
        case .never: return false
        case .auto: break
        }
        if isTLS == true, !isTrusted { return true }
        if headers.isForwarded { return forwardedProtocol(headers) == "https" }
        if let isTLS { return isTLS }
        // Without forwarding fields the peer is the client itself, and nothing lies between on this machine.
        return address?.isLoopback ?? true
    }

    private static let namingFields: HeaderNameSet = [.xForwardedFor, .forwarded]

    /// Returns the scheme that the client used, by the X-Forwarded-Proto of a trusted peer or else its Forwarded; nil if
    /// neither is `http` or `https`.
    func forwardedProtocol(_ headers: borrowing Headers) -> String? {
        guard isTrusted else { return nil }
        guard headers.contains(.xForwardedProto) else {
            return ForwardedClient.scheme(headers, trusting: networks)
        }
        var scheme: String?
        var isFirst = true
        headers.forEachListMember(of: .xForwardedProto) { member in
            // The first of a list is the client's own.
            guard isFirst else { return }
            isFirst = false
            scheme = ["https", "http"].first { String(member).lowercased() == $0 }
        }
        return scheme
    }

    /// Returns the scheme of the target URI, as the upstream is told it.
    func scheme(_ headers: borrowing Headers) -> String {
        forwardedProtocol(headers) ?? (isTLS == true ? "https" : "http")
    }

    /// Returns the client's address as bits, to tell clients apart: `clientAddressForLimits`, else the peer's, else zero.
    func clientAddress(_ headers: borrowing Headers) -> UInt128 {
        (clientAddressForLimits(headers) ?? address)?.clientBits() ?? 0
    }

    /// Returns the share of a request's client, and of this connection, in what all clients have in common.
    ///
    /// A trusted peer that names no client has the share of the connection alone.
    func share(_ headers: borrowing Headers, of resources: ClientResources) -> ClientShare {
        // A peer that is not trusted is always the same client.
        if let known, !isTrusted { return known }
        // Most connections of trusted peers without these fields are their own, so do not walk lists for them.
        let isNamed = !isTrusted || headers.containsAny(of: Self.namingFields)
        let client =
            isNamed ? clientAddressForLimits(headers).map { $0.clientBits(ipv6Prefix: ipv6Prefix) } : nil
        if let known, known.client == client { return known }
        let share = ClientShare(client, of: resources, connection: connectionUse)
        known = share
        return share
    }

    /// Returns the address that a client's limits apply to: the peer's own, or the one that trusted peers name; nil if they
    /// name none.
    func clientAddressForLimits(_ headers: borrowing Headers) -> IPAddress? {
        isTrusted ? ForwardedClient.address(headers, trusting: networks) : address
    }
}
