internal import Dictionaries
internal import HTTP
internal import Redis

/// Settings that are valid one by one, and together have no effect, or one that nobody wants.
extension Configuration {
    mutating func warnOfNoEffect(_ reader: SettingsReader) {
        var limited = [("limits.client", limits.client.rate)]
        limited += routes.enumerated().map { ("routes[\($0)].limits", $1.limits.rate) }
        for (key, rate) in limited where rate == nil {
            warn("\(key).burst", "has no effect without rate", reader)
        }
        if limits.client.rate == nil, limits.client.by != .address {
            warn("limits.client.by", "has no effect without rate", reader)
        }
        for (place, route) in routes.enumerated() {
            guard let dictionary = route.dictionary, dictionary.scope == .public,
                dictionary.privateVersions != DictionaryPolicy().privateVersions
            else { continue }
            warn(
                "routes[\(place)].dictionary.private_versions", "has no effect without scope: private", reader
            )
        }
        for upstream in allUpstreams where upstream.tls != UpstreamTLS() {
            guard !upstream.urls.contains(where: { $0.scheme == .https }) else { continue }
            warn("\(upstream.key).tls", "has no effect: no URL is https", reader)
        }
        if let size = store.privateMaxSize, size > store.maxSize {
            warn("store.private_max_size", "is larger than max_size, of which it is a part", reader)
        }
        if let redis = store.shared, !redis.usesTLS {
            warn("store.shared.ca", "has no effect: the URL is not rediss", reader)
        }
    }

    /// Warns of settings about dictionaries, where no route uses them in such a way.
    mutating func warnOfIdleDictionaries(_ reader: SettingsReader) {
        if !dictionariesOn {
            for key in ["mode"] + routes.indices.map({ "routes[\($0)].mode" }) {
                guard let node = reader.node(of: key), case .scalar("observe") = node.content else {
                    continue
                }
                warn("\(key): observe has no effect with dictionaries: off", at: node.position)
            }
        }
        let users = dictionariesOn ? routes.filter { $0.dictionary != nil } : []
        if experiment != nil, users.allSatisfy(observes) {
            warn("experiment", "compares nothing: no route sends deltas", reader)
        }
        if observe != Observe(), !users.contains(where: observes) {
            warn("observe", "has no effect: no route is observed", reader)
        }
        let places = routes.indices.filter { place in
            routes[place].dictionary.map { compression.minSize > $0.maxBody } ?? false
        }
        if dictionariesOn, !places.isEmpty {
            let names = places.map { "routes[\($0)]" }.joined(separator: ", ")
            warn(
                "compression.min_size",
                "is larger than max_body of \(names), where no dictionaries are then", reader)
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
                    """, at: node.position)
            } else if address.bits & ((1 << UInt128((address.isIPv4 ? 32 : 128) - prefix)) - 1) != 0 {
                warn(
                    "trusted_proxies has \(node.kind), which stands for all addresses with the same \(prefix) bits",
                    at: node.position)
            }
        }
        guard trustedProxies.allSatisfy({ $0 == .loopback || $0 == .unix }) else { return }
        for (place, listener) in listeners.enumerated()
        where listener.proxyProtocol && listener.address.mayBeRemote {
            guard let node = reader.node(of: "listeners[\(place)].proxy_protocol") else { continue }
            warn(
                """
                listeners[\(place)].proxy_protocol: connections from other machines are closed, because trusted_proxies has none \
                of them: add the network of the balancer
                """, at: node.position)
        }
    }

    /// Reports changes of routes to fields that Dictum fills: those would do something else, or nothing.
    func checkOwnFields(_ reader: inout SettingsReader) {
        var setters = Dictionary(
            listeners.compactMap(\.tls?.clientSubjectField).map { ($0.asVariable, "client_subject_field") }
        ) { $1 }
        if let requestID { setters[requestID.asVariable] = "request_id" }
        for (place, route) in routes.enumerated() {
            let edits = route.headers.request
            for (key, names) in [("set", edits.set.map(\.name)), ("remove", edits.remove)] {
                for name in names {
                    guard let setter = setters[name.asVariable] else { continue }
                    reader.report(
                        "\(name) is set by \(setter): expected another field",
                        of: "routes[\(place)].headers.request.\(key)")
                }
            }
        }
    }

    /// Warns of a field that two settings fill.
    mutating func warnOfRequestID(_ reader: SettingsReader) {
        guard let name = requestID?.asVariable else { return }
        for (place, listener) in listeners.enumerated()
        where listener.tls?.clientSubjectField?.asVariable == name {
            warn(
                "listeners[\(place)].tls.client_subject_field",
                "is the field of request_id, which is set in its place", reader)
        }
    }
}

extension String {
    /// The name of a field by which servers that pass fields on as variables tell it from others.
    fileprivate var asVariable: String { lowercased().replacing("_", with: "-") }
}
