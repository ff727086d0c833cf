internal import HTTP
internal import Primitives

/// What the connection and, where its peer is trusted, the forwarding fields say of the client.
///
/// Made once a connection and configuration; the connection keeps it.
final class ClientPeer {
    /// Whether the fields of this peer count: a proxy of the operator's own.
    let isTrusted: Bool
    /// The address of the peer: 4 or 16 bytes, none for a unix socket.
    let address: IPAddress?

    /// Whether it connected with TLS to a proxy that says so by the PROXY protocol.
    let isTLS: Bool?

    /// What its own TLS has shown; nil without.
    let tls: TLSFacts?

    /// The address as X-Forwarded-For has it.
    let text: String

    /// Whom the configuration trusts.
    private let networks: [TrustedNetwork]
    /// The reloads before the configuration that says whom to trust.
    private let generation: Int

    /// The peer of a connection; made on its first request, and on the first after a reload.
    static func of(_ connection: ServerConnection, in context: ProxyContext) -> ClientPeer {
        if let known = connection.attachment as? ClientPeer, known.generation == context.generation {
            return known
        }
        let peer = ClientPeer(
            connection.peer, isTLS: connection.isPeerTLS, tls: connection.tls,
            trusting: context.configuration.trustedProxies,
            generation: context.generation)
        connection.attachment = peer
        return peer
    }

    init(
        _ peer: Endpoint?, isTLS: Bool? = nil, tls: TLSFacts? = nil, trusting networks: [TrustedNetwork],
        generation: Int = 0
    ) {
        self.isTLS = isTLS
        self.tls = tls
        self.generation = generation
        self.networks = networks
        if case .ip(let address, _)? = peer { self.address = address } else { address = nil }
        text = address?.text ?? "unknown"
        isTrusted = networks.contains(peer)
    }

    /// Whether the client's transport is secure (RFC 9842 section 8), by the setting `secure_transport`.
    func isTransportSecure(_ headers: borrowing Headers, setting: Configuration.SecureTransport) -> Bool {
        switch setting {
        case .assume: return true
        case .never: return false
        case .auto: break
        }
        if isTLS == true, !isTrusted { return true }
        if forwards(headers) { return forwardedProtocol(headers) == "https" }
        if let isTLS { return isTLS }
        // Whoever speaks for nobody else is the client itself, and on this machine nothing lies between.
        return address?.isLoopback ?? true
    }

    /// Whether the peer speaks for somebody else.
    private func forwards(_ headers: borrowing Headers) -> Bool {
        headers.containsAny(of: Self.forwardingFields)
    }

    private static let forwardingFields: HeaderNameSet = [
        .xForwardedFor, .xForwardedProto, .xForwardedHost, .forwarded, .via,
    ]

    /// The scheme that the client used, by the X-Forwarded-Proto of a trusted peer or else its Forwarded; nil where none
    /// says `http` or `https`.
    func forwardedProtocol(_ headers: borrowing Headers) -> String? {
        guard isTrusted else { return nil }
        guard headers.contains(.xForwardedProto) else {
            return ForwardedClient.scheme(headers, trusting: networks)
        }
        var scheme: String?
        var isFirst = true
        headers.forEachListMember(of: .xForwardedProto) { member in
            // Of a list the first is the client's own.
            guard isFirst else { return }
            isFirst = false
            scheme = ["https", "http"].first { String(member).lowercased() == $0 }
        }
        return scheme
    }

    /// The client's address as bits, to tell clients apart: `limitedAddress`, else the peer's; zero where there is none.
    func clientAddress(_ headers: borrowing Headers) -> UInt128 {
        (limitedAddress(headers) ?? address)?.bits ?? 0
    }

    /// The address to which a client's limits apply: the peer's own, or what trusted peers say who forwarded it.
    ///
    /// Nil where a trusted peer names nobody.
    func limitedAddress(_ headers: borrowing Headers) -> IPAddress? {
        isTrusted ? ForwardedClient.address(headers, trusting: networks) : address
    }
}
