internal import Dictionaries

/// The dictionaries of other paths that the documents of a route announce: the setting `announce`.
package enum Announcement: Sendable, Equatable {
    /// Those that the documents' clients turn out to fetch.
    case auto
    case off
    case paths([Target])

    /// A path with an optional query.
    package struct Target: Sendable, Equatable {
        package let text: String
        let url: PathAndQuery

        init?(_ text: String) {
            url = PathAndQuery(text)
            guard text.utf8.count <= 1024, text.utf8.allSatisfy({ 0x21...0x7E ~= $0 }), !text.contains("#"),
                url.path.hasPrefix("/"), NormalPath.isNormal(url.path), !DictionaryPath.isReserved(url.path)
            else { return nil }
            self.text = text
        }
    }
}

extension RouteConfiguration {
    /// The announcement in effect: routes without dictionaries announce only what they list.
    var announcementInUse: Announcement {
        get { announcement ?? (dictionary == nil ? .off : .auto) }
        set { announcement = newValue }
    }
}

extension SettingType where Value == Announcement {
    /// `auto`, `off`, or a list of paths.
    static let announcement = {
        let path = SettingType<Announcement.Target>.scalar(
            "a path that a route matches, such as /api/feed", write: { $0.text.inYAML },
            read: { Announcement.Target($0) })
        let list = SettingType<[Announcement.Target]>.list(path, 0...16)
        let expectation = "auto, off, or \(list.expectation)"
        return SettingType(
            expectation: expectation,
            read: { node, reader in
                if case .list = node.content { return list.read(node, &reader).map { .paths($0) } }
                guard let text = reader.text(node, expected: expectation) else { return nil }
                if text == "auto" { return .auto }
                if text.saysOff { return .off }
                reader.reportUnexpected(node, expected: expectation)
                return nil
            },
            write: { announcement in
                switch announcement {
                case .auto: "auto"
                case .off: "off"
                case .paths(let targets): targets.isEmpty ? "off" : list.write(targets)
                }
            })
    }()
}

extension Configuration {
    /// Warns about announced paths whose responses never become public dictionaries.
    mutating func warnOfAnnouncements(_ reader: SettingsReader) {
        for (place, route) in routes.enumerated() {
            guard case .paths(let targets)? = route.announcement,
                let list = reader.node(of: "routes[\(place)].announce"), case .list(let nodes) = list.content
            else { continue }
            for (index, (target, node)) in zip(targets, nodes).enumerated() {
                guard let obstacle = obstacle(to: target, from: route) else { continue }
                warn(
                    "routes[\(place)].announce[\(index)] is \(node.kind), which is never announced: \(obstacle)",
                    at: node.position)
            }
        }
    }

    private func obstacle(to target: Announcement.Target, from page: RouteConfiguration) -> String? {
        let route = routes.first { route in
            route.match.first(target.url) != nil
                && (page.hosts.flatMap { hosts in route.hosts.map(hosts.meets) } ?? true)
        }
        guard let route else { return "no route matches it" }
        guard let dictionary = route.dictionary else { return "dictionaries are off on route \(route.text)" }
        return dictionary.scope == .public ? nil : "route \(route.text) is private"
    }
}
