internal import Dictionaries
internal import HTTP

extension Configuration {
    /// Reports addresses that are given twice, or that another one covers, so that a start would fail.
    ///
    /// Port 0 stands for a different port each time, but two listeners with one text would share what goes by it.
    func checkAddresses(_ reader: inout SettingsReader) {
        var takers: [(name: String, address: ConfiguredAddress)] = []
        var names = listeners.enumerated().map { ("listeners[\($0)]", $1.address, $1.reusesPort) }
        if let address = admin?.address { names.append(("admin", address, false)) }
        for (name, address, sharesPort) in names {
            let isFree = if case .tcp(_, port: 0) = address { true } else { false }
            if isFree, name == "admin" { continue }
            let node = reader.node(of: name + ".address")
            // The default stands in for an address that could not be read; that address has been reported already.
            if let node, reader.hasProblem(inLine: node.position.line) { continue }
            let twin = takers.first { $0.address == address }
            // With reuse_port the later one is opened beside the others.
            let other = sharesPort || isFree ? nil : takers.first { $0.address.overlaps(address) }
            takers.append((name, address))
            guard let taker = twin ?? other else { continue }
            let text = node?.kind ?? "\"\(String(describing: address).shortened)\" by default"
            let mistake =
                twin != nil
                ? "which \(taker.name) uses too: expected a different address"
                : "which overlaps with \(taker.address) of \(taker.name): expected another port, or only one of them"
            reader.report(
                "\(name).address is \(text), \(mistake)",
                at: reader.position(of: name + ".address", taker.name + ".address"))
        }
    }
}

extension ConfiguredAddress {
    /// True if both cannot be listened on, as far as that is known without resolving a name.
    fileprivate func overlaps(_ other: ConfiguredAddress) -> Bool {
        guard case .tcp(let host, let port) = self, case .tcp(let otherHost, port: port) = other else {
            return false
        }
        switch (IPAddress(host), IPAddress(otherHost)) {
        case (let one?, let two?): return Endpoint.ip(one, port: port).overlaps(.ip(two, port: port))
        case (let one?, nil): return one.takes(otherHost)
        case (nil, let one?): return one.takes(host)
        case (nil, nil): return host.lowercased() == otherHost.lowercased()
        }
    }
}

extension IPAddress {
    /// True if a name surely stands for an address that is taken with this one.
    fileprivate func takes(_ name: String) -> Bool {
        // The IPv6 wildcard covers whatever the name stands for.
        isWildcard && !isIPv4
            || name.lowercased() == "localhost" && (isWildcard || self == IPAddress("127.0.0.1"))
    }
}

extension Configuration.Listener {
    /// Checks how the listener's settings fit together after all have been read, and the files that they name.
    mutating func check(_ reader: inout SettingsReader) {
        if tls != nil, redirectPort != nil {
            reader.report("no effect on a listener with tls: expected one of them", of: "redirect")
        }
        if tls == nil {
            reader.report(
                "no effect without tls (RFC 6797 section 7.2): expected both or neither", of: "hsts")
        }
        guard let tls, let section = reader.node(of: "tls") else { return }
        let expected = "both certificate and private_key, or certificates"
        guard tls.hasWholePairs else {
            return reader.descend("tls") {
                $0.reportUnexpected(section, expected: expected, because: "a certificate or a key is missing")
            }
        }
        for key in ["client_subject_field", "client_auth"] where tls.server.clientAuthority == nil {
            reader.report("no effect without client_ca: expected both or neither", of: "tls.\(key)")
        }
        do throws(TLSError) {
            _ = try TLSServerContext(tls.settings(protocols), ticketKeys: TLSTicketKeys())
        } catch {
            let key = tls.keys.first { $0.path != nil && $0.path == error.file }.map { "tls.\($0.key)" }
            reader.report(
                "\(error.text): expected a valid certificate with its key, which this user may read",
                of: key ?? "tls")
        }
    }
}

extension Configuration.TLS {
    /// True if there is a certificate, and every certificate has its key.
    fileprivate var hasWholePairs: Bool {
        (certificate == nil) == (privateKey == nil) && (certificate != nil || !server.certificates.isEmpty)
            && (ocsp == nil || certificate != nil)
            && server.certificates.allSatisfy { !$0.certificate.isEmpty && !$0.privateKey.isEmpty }
    }

    /// The file settings with their values.
    fileprivate var keys: [(key: String, path: String?)] {
        [
            ("certificate", certificate), ("private_key", privateKey), ("ocsp", ocsp),
            ("client_ca", server.clientAuthority),
        ]
            + server.certificates.enumerated().flatMap { index, one in
                [("certificate", one.certificate), ("private_key", one.privateKey), ("ocsp", one.ocsp)].map {
                    ("certificates[\(index)].\($0.0)", $0.1)
                }
            }
    }
}

extension Configuration {
    /// Warns about settings that are valid but probably a mistake, after all have been read.
    mutating func findWarnings(_ reader: SettingsReader) {
        warnOfAnnouncements(reader)
        warnOfUnusedUpstreams(reader)
        warnOfNoEffect(reader)
        warnOfIdleDictionaries(reader)
        warnOfTrust(reader)
        warnOfRequestID(reader)
        warnOfAdmin(reader)
        warnOfCertificates(reader)
        // The paths of some APIs all end with a slash.
        let endsUsually =
            routes.count { $0.match.patterns.contains { $0.text.hasSuffix("/") && $0.text != "/" } } > 1
        for (place, route) in routes.enumerated() {
            guard let node = reader.node(of: "routes[\(place)].match") else { continue }
            if route.match.patterns.contains(where: \.text.readsLikeRegularExpression) {
                warn(
                    """
                    routes[\(place)].match is \(node.kind) and looks like a regular expression: in a URL Pattern, * matches any \
                    text, as in /api/*, while . and $ match themselves
                    """, at: node.position)
            }
            if let text = narrowPattern(of: route, endsUsually: endsUsually) {
                warn("routes[\(place)].match is \(node.kind)\(text)", at: node.position)
            }
            guard
                let former = routes[..<place].firstIndex(where: { $0.covers(route) }),
                let formerNode = reader.node(of: "routes[\(former)].match")
            else { continue }
            warn(
                """
                routes[\(place)].match is \(node.kind) and never reached: the first route that matches counts, and \
                routes[\(former)], \(formerNode.kind) in line \(formerNode.position.line), matches everything that this one matches
                """, at: node.position)
        }
    }

    /// A certificate that has expired must not keep the others down, which a start or a reload would if it were an error.
    private mutating func warnOfCertificates(_ reader: SettingsReader) {
        for (place, listener) in listeners.enumerated() {
            guard let tls = listener.tls, tls.hasWholePairs,
                let context = try? TLSServerContext(
                    tls.settings(listener.protocols), ticketKeys: TLSTicketKeys())
            else { continue }
            for complaint in context.complaints {
                guard let key = tls.keys.first(where: { $0.path == complaint.file })?.key,
                    let node = reader.node(of: "listeners[\(place)].tls.\(key)")
                else { continue }
                warn("tls: \(complaint.text)", at: node.position)
            }
        }
    }

    /// Returns a warning of a pattern that seems to be meant for everything below a path, and is not; nil without one.
    ///
    /// `endsUsually` says that a slash at the end is no exception in these routes.
    private func narrowPattern(of route: RouteConfiguration, endsUsually: Bool) -> String? {
        // The page of a folder has such a path.
        if case .paths? = route.announcement { return nil }
        for pattern in route.match.patterns where !pattern.text.contains("?") {
            let text = pattern.text
            if text.hasSuffix("/**") {
                return ": * alone matches any text, with slashes; did you mean \"\(text.dropLast())\"?"
            }
            guard text.hasSuffix("/"), text != "/", !endsUsually, let whole = try? URLPattern(text + "*"),
                !routes.contains(where: { $0.match.patterns.contains { $0.covers(whole) } })
            else { continue }
            return
                "\(route.match.patterns.count > 1 ? ", where \(text)" : " and") matches that path alone; did you mean "
                + "\"\(whole.text)\"?"
        }
        return nil
    }

    /// Adds a warning about a setting, if the file has it.
    mutating func warn(_ key: String, _ text: String, _ reader: SettingsReader) {
        if let node = reader.node(of: key) { warn("\(key) \(text)", at: node.position) }
    }

    mutating func warn(_ text: String, at position: ConfigurationNode.Position) {
        warnings.append(.init(line: position.line, column: position.column, text: text))
    }

    package func warningLines(file: String) -> [String] {
        warnings.map { "\(file):\($0.line):\($0.column): warning: \($0.text)" }
    }
}

extension String {
    /// True if the text contains what only regular expressions need; parentheses are a legitimate part of patterns.
    fileprivate var readsLikeRegularExpression: Bool {
        !contains("(") && (contains("/.*") || hasSuffix("$"))
    }
}
