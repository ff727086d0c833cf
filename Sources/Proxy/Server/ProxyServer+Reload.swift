internal import Dispatch
internal import HTTP
internal import Primitives
internal import Storage
internal import Synchronization

extension ProxyServer {
    /// Adopts another configuration for new requests; requests in progress keep the settings of theirs.
    ///
    /// What belongs to all requests changes for those in progress, too: places at upstreams, the observer, the switch, the log,
    /// the versions in use, and the addresses, balance and connection settings of an upstream that keeps its name
    /// (`LoopUpstreams.adopt`).
    ///
    /// An error leaves everything unchanged, and is reported. Blocks until every loop has adopted it; not reentrant.
    ///
    /// - Returns: the settings that are not those of the start but wait for the next one, which are reported, too.
    @discardableResult
    package func reload(_ configuration: Configuration) throws(StartError) -> [String] {
        do throws(StartError) {
            let late = try adopt(configuration)
            status.countReload(isDone: true)
            context.shared.events.forgetUntilReload()
            if !late.isEmpty {
                noteUntilReload([
                    .warning("the change of \(late.joined(separator: ", ")) takes effect at the next start")
                ])
            }
            return late
        } catch {
            refuseReload(["\(error); keeping the current configuration"])
            throw error
        }
    }

    /// Counts a configuration that was refused, and reports why; the admin listener shows that until another one is in effect.
    package func refuseReload(_ reasons: [String]) {
        status.countReload(isDone: false)
        noteUntilReload(reasons.map { .error($0) })
    }

    private func noteUntilReload(_ events: [OperatorEvent]) {
        for event in events { report(event) }
        context.shared.events.keepUntilReload(events)
    }

    private func adopt(_ configuration: Configuration) throws(StartError) -> [String] {
        let former = state.withLock { $0 }
        let refused = Settings.all.changes(.refused, from: former.context.configuration, to: configuration)
        guard refused.isEmpty else { throw .needsRestart(refused) }
        let upstreams = try UpstreamGroups(
            configuration, former.context.shared.upstreams, after: former.context.upstreams,
            report: former.context.report)
        let context = try ProxyContext(
            configuration, upstreams, former.context.shared, after: former.context)
        // Open every new socket first, so that an error changes nothing.
        let change = try ListenerChange(from: former, to: configuration)
        let admin = try AdminChange(from: former, to: configuration)
        try OwnUpstream.check(upstreams.all.flatMap(\.resolved), change.listeners.map(\.endpoint))
        upstreams.adopt()
        context.shared.places.adopt(UpstreamPlaces.Limits(configuration))
        context.observer.adopt(configuration)
        state.withLock { state in
            state.context = context
            state.listeners = change.listeners
            if case .moved(let socket) = admin { state.adminEndpoint = socket?.endpoint }
        }
        status.adopt(context)
        context.shared.dictionariesOff.store(false, ordering: .relaxed)
        // Before the loops adopt it, hide the versions that no route makes any more.
        context.store.upkeep.restrict(to: context.routes.makes)
        context.shared.currentRoutes.withLock { $0 = context.routes }
        hand(context, change)
        names.adopt(context.upstreams)
        if case .moved(let socket) = admin { self.admin.perform { $0.listen(at: socket, $1) } }
        var started = former.context.shared.started
        started.listeners = change.listeners.map(\.opened)
        return Self.changesAtNextStart(from: started, to: configuration, hasKey: context.store.keys != nil)
    }

    /// Returns the settings that differ from those of the start, and of listeners from those with which they were opened, and
    /// take effect at the next start.
    private static func changesAtNextStart(
        from started: Configuration, to new: Configuration, hasKey: Bool
    ) -> [String] {
        let names = Settings.all.changes(.atNextStart, from: started, to: new)
        guard !hasKey else { return names }
        // The key is read at the start; until then, a route that needs it has no dictionaries.
        return names.filter { $0 != "store.key_file" }
            + (new.needsKeys
                ? ["dictionary (the first route that needs store.key_file has none until then)"] : [])
    }

    /// Has every loop adopt the context, and waits for all.
    private func hand(_ context: ProxyContext, _ change: ListenerChange) {
        let handed = DispatchGroup()
        for (index, part) in parts.enumerated() {
            let added = change.added.mapValues { $0[index] }
            part.perform(in: handed) { $0.adopt(context, added: added, $1) }
        }
        handed.wait()
    }
}

private struct ListenerChange: Sendable {
    let listeners: [ProxyServer.OpenListener]
    let added: ProxyServer.Shares

    /// Opens the sockets of new addresses; listeners with an unchanged address keep theirs.
    init(from former: ProxyServer.State, to configuration: Configuration) throws(StartError) {
        let left = former.endpoints(notIn: configuration)
        var (listeners, added): ([ProxyServer.OpenListener], ProxyServer.Shares) = ([], [:])
        for listener in configuration.listeners {
            if let kept = former.listeners.first(where: { $0.opened.address == listener.address }) {
                listeners.append(kept)
            } else {
                let (new, shares) = try ProxyServer.open(listener, replacing: left, former.context)
                listeners.append(new)
                added[listener.address] = shares
            }
        }
        (self.listeners, self.added) = (listeners, added)
    }
}

private enum AdminChange {
    case same
    case moved(ListeningSocket?)

    init(from former: ProxyServer.State, to configuration: Configuration) throws(StartError) {
        let address = configuration.admin?.address
        guard address != former.context.configuration.admin?.address else {
            self = .same
            return
        }
        let left = former.endpoints(notIn: configuration)
        self = .moved(
            try address.flatMap { address throws(StartError) in
                try ProxyServer.open(address, count: 1, replacing: left).first
            })
    }
}

extension ProxyServer.State {
    /// Returns the addresses, of listeners and the admin listener, that another configuration gives up.
    ///
    /// They are closed only after its own are open.
    fileprivate func endpoints(notIn configuration: Configuration) -> [Endpoint] {
        let staying = Set(configuration.listeners.map(\.address))
        var left = listeners.filter { !staying.contains($0.opened.address) }.map(\.endpoint)
        if let adminEndpoint, configuration.admin?.address != context.configuration.admin?.address {
            left.append(adminEndpoint)
        }
        return left
    }
}
