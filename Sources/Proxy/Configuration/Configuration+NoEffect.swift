internal import Dictionaries
internal import HTTP
internal import Redis

/// Settings that are valid one by one, and together have no effect, or one that nobody wants.
extension Configuration {
    /// Warns about settings without effect.
    mutating func warnOfNoEffect(_ reader: SettingsReader) {
        var limited = [("limits.client", limits.client.rate)]
        limited += routes.enumerated().map { ("routes[\($0)].limits", $1.limits.rate) }
        for (key, rate) in limited where rate == nil {
            warn("\(key).burst has no effect without rate", at: reader.node(of: "\(key).burst"))
        }
        if limits.client.rate == nil, limits.client.by != .address {
            warn("limits.client.by has no effect without rate", at: reader.node(of: "limits.client.by"))
        }
        for (place, route) in routes.enumerated() {
            guard let dictionary = route.dictionary, dictionary.scope == .public,
                dictionary.privateVersions != DictionaryPolicy().privateVersions
            else { continue }
            let key = "routes[\(place)].dictionary.private_versions"
            warn("\(key) has no effect without scope: private", at: reader.node(of: key))
        }
        for upstream in allUpstreams where upstream.tls != UpstreamTLS() {
            guard !upstream.urls.contains(where: { $0.scheme == .https }) else { continue }
            warn(
                "\(upstream.key).tls has no effect: no URL is https",
                at: reader.node(of: "\(upstream.key).tls"))
        }
        if let size = store.privateMaxSize, size > store.maxSize {
            warn(
                "store.private_max_size is larger than max_size, of which it is a part",
                at: reader.node(of: "store.private_max_size"))
        }
        if let redis = store.shared?.redis, !redis.usesTLS {
            warn(
                "store.shared.ca has no effect: the URL is not rediss", at: reader.node(of: "store.shared.ca")
            )
        }
    }

    /// Warns about trust in everybody, and about listeners whose peers nobody trusts to say who the client is.
    mutating func warnOfTrust(_ reader: SettingsReader) {
        let items = reader.node(of: "trusted_proxies")?.items ?? []
        for (network, node) in zip(trustedProxies, items) {
            guard case .block(let address, let prefix) = network else { continue }
            if prefix == 0 {
                warn(
                    """
                    trusted_proxies has \(node.kind), which is everybody: any client may then claim another address, and that its \
                    connection is TLS
                    """, at: node)
            } else if address.bits & ((1 << UInt128((address.isIPv4 ? 32 : 128) - prefix)) - 1) != 0 {
                warn(
                    "trusted_proxies has \(node.kind), which stands for all addresses with the same \(prefix) bits",
                    at: node)
            }
        }
        guard trustedProxies.allSatisfy({ $0 == .loopback || $0 == .unix }) else { return }
        for (place, listener) in listeners.enumerated() where listener.proxyProtocol {
            guard case .tcp(let host, _) = listener.address, host.lowercased() != "localhost",
                IPAddress(host)?.isLoopback != true
            else { continue }
            warn(
                """
                listeners[\(place)].proxy_protocol: connections from other machines are closed, because trusted_proxies has none \
                of them: add the network of the balancer
                """, at: reader.node(of: "listeners[\(place)].proxy_protocol"))
        }
    }

    /// Warns of a field that two settings fill.
    mutating func warnOfRequestID(_ reader: SettingsReader) {
        guard let name = requestID?.lowercased() else { return }
        for (place, listener) in listeners.enumerated() where listener.tls?.clientSubjectField == name {
            warn(
                "listeners[\(place)].tls.client_subject_field is the field of request_id, which is set in its place",
                at: reader.node(of: "listeners[\(place)].tls.client_subject_field"))
        }
    }

    /// Adds a warning at a node; without one the setting is not in the file, and nothing is to be said.
    private mutating func warn(_ text: String, at node: ConfigurationNode?) {
        if let node { warn(text, at: node.position) }
    }
}
