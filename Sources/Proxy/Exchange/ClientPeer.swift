internal import HTTP

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

    /// The scheme the client used, by the X-Forwarded-Proto or else the Forwarded (RFC 7239 section 5.4) of a
    /// trusted peer; nil where none says.
    func forwardedProtocol(_ headers: borrowing Headers) -> String? {
        guard isTrusted else { return nil }
        if let text = headers.joined(.xForwardedProto) {
            // Of a list the first is the client's own.
            return text.prefix { $0 != "," }.lowercased().trimmingBlanks
        }
        return forwarded("proto", headers)?.lowercased()
    }

    /// The client's address as bits, to tell clients apart: `limitedAddress`, else the peer's; zero where there is none.
    func clientAddress(_ headers: borrowing Headers, trusting networks: [TrustedNetwork]) -> UInt128 {
        (limitedAddress(headers, trusting: networks) ?? address)?.bits ?? 0
    }

    /// The address to which a client's limits apply: the peer's own, or what trusted peers say who forwarded it.
    ///
    /// Each of those adds on the right who connected to it, so the last that is not trusted itself is the client; what stands
    /// left of that is the client's own word. Nil where a trusted peer names nobody.
    func limitedAddress(_ headers: borrowing Headers, trusting networks: [TrustedNetwork]) -> IPAddress? {
        guard isTrusted else { return address }
        let named: [String]
        if let list = headers.joined(.xForwardedFor) {
            named = list.split(separator: ",").map { String($0) }
        } else {
            named = (headers.joined(.forwarded) ?? "").split(separator: ",").compactMap {
                Self.parameter("for", of: $0)
            }
        }
        for text in named.reversed() {
            guard let address = IPAddress(text.trimmingBlanks.withoutPort) else { return nil }
            if !networks.contains(peer: address.bytes) { return address }
        }
        return nil
    }

    /// A parameter of the first element of Forwarded.
    private func forwarded(_ name: String, _ headers: borrowing Headers) -> String? {
        headers.joined(.forwarded).flatMap { Self.parameter(name, of: $0.prefix { $0 != "," }) }
    }

    private static func parameter(_ name: String, of element: Substring) -> String? {
        for pair in element.split(separator: ";") {
            let parts = pair.split(separator: "=", maxSplits: 1)
            if parts.count == 2, parts[0].lowercased().trimmingBlanks == name {
                return parts[1].filter { $0 != "\"" }.trimmingBlanks
            }
        }
        return nil
    }
}

extension String {
    /// The text without blanks at its ends.
    fileprivate var trimmingBlanks: String {
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        let tail = drop(while: isBlank)
        return String(tail.reversed().drop(while: isBlank).reversed())
    }

    /// An address without the brackets and the port that it may have.
    fileprivate var withoutPort: String {
        if hasPrefix("[") { return String(dropFirst().prefix { $0 != "]" }) }
        // With more than one colon it is an IPv6 address.
        return split(separator: ":").count == 2 ? String(prefix { $0 != ":" }) : self
    }
}
