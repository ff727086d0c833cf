internal import Dictionaries

extension RouteConfiguration {
    /// Checks how the route's settings fit together after all have been read.
    mutating func check(_ reader: inout SettingsReader) {
        readCovers(&reader)
        checkScope(&reader)
        checkMethods(&reader)
        if dictionary == nil, requests == .dictionary {
            reader.report("dictionary needs dictionaries: expected dictionary: on", of: "requests")
        }
        checkCacheControl(&reader)
        checkForwarding(&reader)
        readBuilt(&reader)
    }

    private mutating func readBuilt(_ reader: inout SettingsReader) {
        guard let policy = dictionary, let source = policy.builtSource else { return }
        do throws(BuiltDictionary.Mistake) {
            guard policy.scope == .public else {
                throw .init(text: "a built dictionary is for everybody: expected scope: public")
            }
            guard !match.patterns.isEmpty else { return }
            switch policy.covers {
            case .path, .url, .operation: break
            case .pattern, .template:
                throw .init(
                    text:
                        "with covers: \(policy.coversText) responses would replace it: expected covers: path or url"
                )
            }
            dictionary?.built = try BuiltDictionary(source, for: match)
        } catch {
            reader.report(error.text, of: "dictionary.built")
        }
    }

    private func checkCacheControl(_ reader: inout SettingsReader) {
        guard let value = dictionary?.cacheControl, CacheControl([value]).noStore,
            let node = reader.node(of: "dictionary.cache_control")
        else { return }
        reader.descend("dictionary.cache_control") {
            $0.reportUnexpected(
                node, expected: "a value with a lifetime, such as \"max-age=60\", or dictionary: off",
                because: "no client keeps a dictionary with no-store")
        }
    }

    private func checkMethods(_ reader: inout SettingsReader) {
        guard let dictionary, !dictionary.keyMembers.isEmpty, dictionary.methods == [.get] else { return }
        reader.report(
            "no effect with methods: [GET]: expected QUERY or POST in methods, or covers: url for queries",
            of: "dictionary.key")
    }

    private func checkScope(_ reader: inout SettingsReader) {
        guard let dictionary else { return }
        let hasIdentity = reader.node(of: "dictionary.identity") != nil
        let mistake: (key: String, text: String)? =
            switch dictionary.scope {
            case .private where !hasIdentity:
                ("scope", "private without identity: expected identity, which tells users apart")
            case .private where dictionary.sharedCaches == .trust:
                ("shared_caches", "trust: expected avoid, since no cache may share private responses")
            case .private where dictionary.delivery == .link:
                ("delivery", "link: expected auto or in_band, since Links never name private responses")
            case .private where dictionary.revalidate:
                ("revalidate", "true: expected false, since one user's response is not valid for another")
            case .public where hasIdentity:
                ("identity", "no effect without scope: private: expected both or neither")
            case .public, .private: nil
            }
        if let mistake { reader.report(mistake.text, of: "dictionary.\(mistake.key)") }
    }

    /// Derives `covers` from its text, which requires the match.
    mutating func readCovers(_ reader: inout SettingsReader) {
        guard !match.patterns.isEmpty, let policy = dictionary else { return }
        do throws(PatternError) {
            dictionary?.covers = try Covers(policy.coversText, groupNames: match.groupNames, key: policy.key)
        } catch {
            reader.report(error.text, of: "dictionary.covers", offset: error.offset)
        }
    }
}

extension SettingType where Value == RouteMatch {
    /// The match of a route: a pattern or a list of patterns.
    static let routeMatch = {
        let several = SettingType<[URLPattern]>.list(.urlPattern, 1...RouteMatch.countMax)
        return SettingType(
            expectation: expectedPattern,
            read: { node, reader in
                if case .list = node.content { return several.read(node, &reader).map(RouteMatch.init) }
                return SettingType<URLPattern>.urlPattern.read(node, &reader).map { RouteMatch([$0]) }
            },
            write: { match in
                match.patterns.count == 1 ? match.patterns[0].text.inYAML : several.write(match.patterns)
            })
    }()
}

extension SettingType where Value == URLPattern {
    /// A pattern for paths and, if it has a search part, queries.
    fileprivate static let urlPattern = SettingType(
        expectation: expectedPattern,
        read: { node, reader in
            guard let text = reader.text(node, expected: expectedPattern) else { return nil }
            // A relative pattern would depend on the URL it is resolved against; it often comes from a location of nginx.
            guard beginsAtRoot(text) else {
                let expected = relativeText(of: node).map { "\"/\($0)\"" } ?? expectedPattern
                reader.reportUnexpected(node, expected: expected, because: "it does not begin with /")
                return nil
            }
            // As it is written: ${NAME} is no parameter, and its value is not shown.
            if case .scalar(let written) = node.content, let parameter = BracedParameter(in: written) {
                reader.report(parameter.text, in: node, offset: parameter.offset)
                return nil
            }
            do throws(PatternError) {
                try PathReadings.checkRoutable(text)
                return try URLPattern(text)
            } catch {
                reader.report(error.text, in: node, offset: error.offset)
                return nil
            }
        }, write: { $0.text.inYAML })
}

private let expectedPattern = """
    a URL Pattern for the whole path, such as /api/feed, /app/:name.js or /search?q=*; /api/* matches everything below \
    /api/; or a list of patterns
    """

/// A parameter as OpenAPI and FastAPI write it, `{id}` or `{path:path}`, in a URL Pattern, where it is the text `id`.
private struct BracedParameter {
    /// The number of characters in front of it.
    let offset: Int
    /// The mistake, and what to write.
    let text: String

    init?(in pattern: String) {
        // Braces after a name end it, and braces before a modifier repeat their text.
        guard let match = pattern.firstMatch(of: /(?:^|[^\w$])(\{([A-Za-z_]\w*)(:path)?\})(?![?*+])/) else {
            return nil
        }
        let (_, braces, name, isPath) = match.output
        offset = pattern.unicodeScalars.distance(from: pattern.startIndex, to: braces.startIndex)
        let instead = isPath == nil ? ":\(name) for one segment" : "* for the rest of the path"
        text = "\(braces) matches only this text without its braces: expected \(instead)"
    }
}

/// Returns true if a pattern begins with a slash, which may be escaped or in braces.
private func beginsAtRoot(_ text: String) -> Bool {
    ["/", "\\/", "{/"].contains(where: text.hasPrefix)
}

/// Returns the text of a pattern that lacks only its leading slash; nil if it may have another meaning.
private func relativeText(of node: ConfigurationNode) -> String? {
    guard case .scalar(let text) = node.content, text.utf8.count <= 60,
        // A path does not begin with an operator of nginx, a regular expression or a variable.
        text.utf8.first.map({ !"=~^@$(\\/ ".utf8.contains($0) }) == true, !text.contains("${"),
        (try? URLPattern("/" + text)) != nil
    else { return nil }
    return text
}
