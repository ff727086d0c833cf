internal import HTTP

extension Configuration {
    /// Checks that every request has an upstream, and that every named upstream exists.
    func checkUpstreamNames(_ reader: inout SettingsReader, root: ConfigurationNode) {
        guard case .mapping(let entries) = root.content else { return }
        let hasDefault = entries.contains { $0.key == "upstream" }
        let names = upstreams.map(\.name)
        if !hasDefault, reader.node(of: "upstreams") == nil {
            return reader.report(
                "upstream is missing: expected a mapping of \(Settings.upstream.map(\.key).listed), such as "
                    + Settings.exampleUpstream,
                at: root.position)
        }
        guard reader.node(of: "routes") != nil else {
            guard !hasDefault else { return }
            return reader.report(
                "upstream is missing: expected it, or routes that each name one of upstreams",
                at: root.position)
        }
        for (place, route) in routes.enumerated() {
            let key = "routes[\(place)].upstream"
            if let name = route.upstream {
                guard !names.contains(name), let node = reader.node(of: key) else { continue }
                let help =
                    name.nearest(in: names).map { "did you mean \"\($0)\"?" }
                    ?? "expected \(Self.choice(of: names))"
                reader.report("\(key) is \(node.kind), which is not in upstreams: \(help)", at: node.position)
            } else if !hasDefault, let match = reader.node(of: "routes[\(place)].match") {
                reader.report(
                    "\(key) is missing: expected \(Self.choice(of: names)), or the setting upstream for all such routes",
                    at: match.position)
            }
        }
    }

    private static func choice(of names: [String]) -> String {
        switch names.count {
        case 0: "a name that upstreams has"
        case 1: names[0]
        default: "one of \(names.listed)"
        }
    }

    /// Checks the upstreams' TLS files after all settings have been read.
    func checkUpstreamTLS(_ reader: inout SettingsReader) {
        for upstream in allUpstreams { checkTLS(of: upstream, &reader) }
    }

    private func checkTLS(of upstream: Upstream, _ reader: inout SettingsReader) {
        let tls = upstream.tls
        let key = "\(upstream.key).tls"
        guard tls != UpstreamTLS(), let section = reader.node(of: key) else { return }
        guard (tls.certificate == nil) == (tls.privateKey == nil) else {
            return reader.report(
                "\(key) has only one of certificate and private_key: expected both or neither",
                at: section.position)
        }
        do throws(TLSError) {
            _ = try TLSClientContext(tls)
        } catch {
            let files = [
                ("ca", tls.authority), ("certificate", tls.certificate), ("private_key", tls.privateKey),
            ]
            let file = files.first { $0.1 == error.file }?.0
            let node = file.flatMap { reader.node(of: "\(key).\($0)") } ?? section
            reader.report("\(key): \(error.text): expected a valid file", at: node.position)
        }
    }

    /// Warns about named upstreams that no route chooses.
    mutating func warnOfUnusedUpstreams(_ reader: SettingsReader) {
        guard case .mapping(let entries)? = reader.node(of: "upstreams")?.content else { return }
        let used = Set(routes.compactMap(\.upstream))
        for entry in entries where !used.contains(entry.key) {
            warn(
                "upstreams.\(entry.key) is not used: no route has upstream: \(entry.key)", at: entry.position)
        }
    }
}
