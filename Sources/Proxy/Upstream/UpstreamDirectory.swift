internal import Dictionaries
internal import HTTP

/// The addresses of the upstreams as they are known now; outlives reloads.
///
/// Safe from any thread but a loop where it resolves.
final class UpstreamDirectory: Sendable {
    /// What is known.
    private struct State: Sendable {
        var urls: [UpstreamURL]
        var servers: [UpstreamServer]
    }

    /// What became of asking for all names again.
    struct Refreshed: Sendable {
        /// Those that were not there before.
        let added: [UpstreamServer]
        /// Those that are not there any more.
        let removed: [UpstreamServer]
        /// Names that had no address just now; they keep those that they had.
        let failed: [String]
    }

    private let resolver: NameResolver
    private let state = Guarded(State(urls: [], servers: []))

    init(_ urls: [UpstreamURL], _ resolver: NameResolver) throws(StartError) {
        self.resolver = resolver
        let servers = try self.servers(of: urls)
        adopt(urls, servers)
    }

    /// Every address of every upstream, in the order of the configuration.
    var servers: [UpstreamServer] { state.withLock { $0.servers } }

    /// Every address of these upstreams; nil once a reload has put others in their place.
    ///
    /// A loop that has not got the reload yet may not be able to speak to those: it may have no TLS for them.
    func servers(standingFor urls: [UpstreamURL]) -> [UpstreamServer]? {
        state.withLock { $0.urls == urls ? $0.servers : nil }
    }

    /// The addresses of upstreams that are to take the place of the present ones; blocks, and changes nothing.
    ///
    /// Those that stay are the same objects, with what is known of their health. A name that was known and has no
    /// address now keeps those that it had; a new one without is an error, as it is likely a slip of the pen.
    func servers(of urls: [UpstreamURL]) throws(StartError) -> [UpstreamServer] {
        let found = resolve(urls)
        guard let host = found.unknown.first else { return found.servers }
        throw .unknownUpstream(host)
    }

    /// Goes on with these.
    func adopt(_ urls: [UpstreamURL], _ servers: [UpstreamServer]) {
        state.withLock { $0 = State(urls: urls, servers: servers) }
    }

    /// Asks for all names again; nil where the upstreams have changed meanwhile.
    ///
    /// Blocks.
    func refresh() -> Refreshed? {
        let former = state.withLock { $0 }
        let found = resolve(former.urls)
        let added = found.servers.filter { new in !former.servers.contains { $0 === new } }
        let removed = former.servers.filter { old in !found.servers.contains { $0 === old } }
        let isCurrent = state.withLock { state in
            guard state.urls == former.urls else { return false }
            state.servers = found.servers
            return true
        }
        guard isCurrent else { return nil }
        return Refreshed(added: added, removed: removed, failed: found.failed)
    }

    private struct Found {
        var servers: [UpstreamServer] = []
        /// Names that have no address, and had some.
        var failed: [String] = []
        /// Names that never had one.
        var unknown: [String] = []
    }

    private func resolve(_ urls: [UpstreamURL]) -> Found {
        let known = servers
        var found = Found()
        for url in urls {
            var targets = targets(of: url)
            if targets.isEmpty, case .host(let host, _) = url.place {
                targets = known.filter { $0.url == url.description }.map(\.target)
                if targets.isEmpty { found.unknown.append(host) } else { found.failed.append(host) }
            }
            for target in targets where !found.servers.contains(where: { $0.target == target }) {
                let server = known.first { $0.target == target }
                found.servers.append(server ?? UpstreamServer(target, url: url.description))
            }
        }
        return found
    }

    private func targets(of url: UpstreamURL) -> [UpstreamTarget] {
        let endpoints: [Endpoint] =
            switch url.place {
            case .host(let host, let port): resolver.addresses(host, port)
            case .unix(let path): [.unix(path: path)]
            }
        return endpoints.map { .init(scheme: url.scheme, authority: url.authority, endpoint: $0) }
    }
}
