internal import HTTP
internal import Primitives

/// The current addresses of one upstream; it outlives reloads.
///
/// Safe from any thread, but resolving blocks and may not run on a loop.
final class UpstreamDirectory: Sendable {
    private struct State: Sendable {
        var urls: [UpstreamURL]
        var servers: [UpstreamServer]
    }

    struct Refreshed: Sendable {
        let added: [UpstreamServer]
        let removed: [UpstreamServer]
        /// The names that currently have no address; they keep their former ones.
        let failed: [String]
    }

    /// The name of the upstream; empty without one.
    private let name: String
    private let resolver: NameResolver
    private let state = Guarded(State(urls: [], servers: []))

    init(_ name: String, _ resolver: NameResolver) {
        (self.name, self.resolver) = (name, resolver)
    }

    /// All addresses, in the order of the configuration.
    var servers: [UpstreamServer] { state.withLock { $0.servers } }

    /// Returns all addresses of these URLs, or nil once a reload has replaced them.
    ///
    /// A loop that has not seen the reload may lack the TLS settings for the new addresses.
    func servers(standingFor urls: [UpstreamURL]) -> [UpstreamServer]? {
        state.withLock { $0.urls == urls ? $0.servers : nil }
    }

    /// Resolves the URLs of a new configuration; blocks, and changes nothing.
    ///
    /// Unchanged addresses keep their objects and so their health. A known name that has no address now keeps its
    /// former ones. An unknown name without an address is an error, because it is probably misspelt.
    func servers(of urls: [UpstreamURL]) throws(StartError) -> [UpstreamServer] {
        let found = resolve(urls)
        guard let host = found.unknown.first else { return found.servers }
        throw .unknownUpstream(host, setting: Configuration.Upstream.key(of: name))
    }

    func adopt(_ urls: [UpstreamURL], _ servers: [UpstreamServer]) {
        state.withLock { $0 = State(urls: urls, servers: servers) }
    }

    /// Resolves all names again, which blocks; returns nil if the URLs have been replaced meanwhile.
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
        /// The known names without an address.
        var failed: [String] = []
        /// The unknown names without an address.
        var unknown: [String] = []
    }

    private func resolve(_ urls: [UpstreamURL]) -> Found {
        let known = servers
        var found = Found()
        for url in urls {
            var targets = targets(of: url)
            if targets.isEmpty, case .tcp(let host, _) = url.place {
                targets = known.filter { $0.url == url.description }.map(\.target)
                if targets.isEmpty { found.unknown.append(host) } else { found.failed.append(host) }
            }
            for target in targets where !found.servers.contains(where: { $0.target == target }) {
                let server = known.first { $0.target == target }
                found.servers.append(server ?? UpstreamServer(target, url: url.description, of: name))
            }
        }
        return found
    }

    private func targets(of url: UpstreamURL) -> [UpstreamTarget] {
        let endpoints: [Endpoint] =
            switch url.place {
            case .tcp(let host, let port): resolver.addresses(host, port)
            case .unix(let path): [.unix(path: path)]
            }
        return endpoints.map { .init(scheme: url.scheme, authority: url.authority, endpoint: $0) }
    }
}

/// Resolves host names; replaceable for tests.
package struct NameResolver: Sendable {
    /// Returns the addresses of a host, best first; may block.
    let addresses: @Sendable (_ host: String, _ port: UInt16) -> [Endpoint]

    /// The system's resolver: `/etc/hosts`, DNS, and its other sources.
    package static let system = NameResolver { Endpoint.resolve(host: $0, port: $1) }
}
