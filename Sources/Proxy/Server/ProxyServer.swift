internal import Dispatch
package import HTTP
internal import Primitives
internal import Redis
package import Storage

/// A running proxy with its loops, its listeners and its store; safe from any thread except a loop.
package final class ProxyServer: Sendable {
    /// A loop and the handler that owns what runs there.
    struct LoopPart<Owner: Handler & SendableMetatype>: Sendable {
        let loop: EventLoop
        let token: Token

        /// Starts a loop, and waits until `make` has registered the owner there.
        init(_ label: String, _ make: @escaping @Sendable (EventLoop.Core) -> Token) {
            loop = EventLoop(label: label)
            token = loop.call(make) ?? Token.none
        }

        /// Runs `body` on the loop; `group` waits for it.
        func perform(
            in group: DispatchGroup? = nil, _ body: @escaping @Sendable (Owner, EventLoop.Core) -> Void
        ) {
            group?.enter()
            loop.execute { core in
                if let own = core.handler(token, as: Owner.self) { body(own, core) }
                group?.leave()
            }
        }
    }

    struct OpenListener: Sendable {
        /// The settings with which its sockets were opened.
        let opened: Configuration.Listener
        let endpoint: Endpoint
    }

    /// The sockets of listeners that are not yet on a loop, for each loop.
    typealias Shares = [ConfiguredAddress: [[ListeningSocket]]]

    struct State: Sendable {
        var context: ProxyContext
        /// The listeners of the configuration, in its order.
        var listeners: [OpenListener]
        var adminEndpoint: Endpoint?
    }

    let state: Guarded<State>
    let parts: [LoopPart<ProxyLoop>]
    let status: AdminStatus
    /// Resolves the names of the upstreams again.
    let names: NameWatches
    /// The admin listener's own loop, which responds while other loops are stuck or drain.
    let admin: LoopPart<AdminLoop>
    private let drained = DispatchSemaphore(value: 0)

    /// Starts to accept, at inherited sockets if their addresses match; blocks for a moment.
    package init(
        context: ProxyContext, accessLog: AccessLogOutput?, inherited: InheritedSockets = .none,
        logThreshold: LogThreshold? = nil
    ) throws(StartError) {
        let (listeners, shares, adminSocket) = try Self.open(context, inherited)
        try OwnUpstream.check(context.upstreams.servers, listeners.map(\.endpoint))
        parts = (0..<context.loopCount).map { index in
            LoopPart("dictum.loop.\(index)") { core in
                ProxyLoop(context: context, accessLog: accessLog, maintains: index == 0, core: core)
                    .start(shares.mapValues { $0[index] }, on: core)
            }
        }
        state = Guarded(State(context: context, listeners: listeners, adminEndpoint: adminSocket?.endpoint))
        status = AdminStatus(
            context: context, loops: parts.map(\.loop), sink: accessLog?.sink,
            logThreshold: logThreshold ?? LogThreshold(context.configuration.log.level),
            counters: LoopCounterReader(parts).read)
        names = NameWatches(context.upstreams) { [parts] in
            for part in parts { part.perform { own, _ in own.proxy.refreshUpstreams() } }
        }
        context.shared.redis?.start(requestsOn: parts.map(\.loop))
        context.shared.currentRoutes.withLock { $0 = context.routes }
        context.shared.sharedStore?.start()
        admin = LoopPart("dictum.admin") { [status] core in
            let part = AdminLoop(status: status, core: core)
            part.listen(at: adminSocket, core)
            return core.add(part)
        }
        status.history.start { [weak status] in status?.totals() }
    }

    /// The current context; a reload replaces it.
    package var context: ProxyContext { state.withLock { $0.context } }
    /// Logs a message for the operator, which the admin listener then shows too.
    package func report(_ event: OperatorEvent) { context.report(event) }
    /// The addresses of the listeners, with the ports that the system has chosen.
    package var endpoints: [Endpoint] { state.withLock { $0.listeners.map(\.endpoint) } }
    package var urls: [String] {
        state.withLock { state in
            zip(state.listeners, state.context.configuration.listeners).map { open, listener in
                let url = open.endpoint.urlText
                let isPlain = listener.tls == nil || !url.hasPrefix("http:")
                return isPlain ? url : "https" + url.dropFirst(4)
            }
        }
    }
    /// The URL of the admin page; nil without an admin listener at an IP address.
    package var adminURL: String? {
        guard case .ip? = adminEndpoint else { return nil }
        return adminEndpoint.map { $0.urlText + "/" }
    }
    var adminEndpoint: Endpoint? { state.withLock { $0.adminEndpoint } }

    // MARK: Starting

    private static func open(
        _ context: ProxyContext, _ inherited: InheritedSockets
    ) throws(StartError) -> ([OpenListener], Shares, ListeningSocket?) {
        let listeners = context.configuration.listeners
        var wanted: [Endpoint] = []
        for listener in listeners { wanted.append(try endpoint(of: listener.address)) }
        let admin = context.configuration.admin?.address
        if let admin { wanted.append(try endpoint(of: admin)) }
        let (claimed, rest) = inherited.claimed(by: wanted)
        guard rest.isEmpty || inherited.mayBeLeftOver else { throw .unclaimedSockets(rest.map(\.text)) }
        // The predecessor listens there until this process accepts.
        let left = rest.map(\.endpoint)
        var (opened, shares): ([OpenListener], Shares) = ([], [:])
        for (index, listener) in listeners.enumerated() {
            let (own, ownShares) = try open(listener, claimed[index], replacing: left, context)
            opened.append(own)
            shares[listener.address] = ownShares
        }
        guard let admin else { return (opened, shares, nil) }
        if let socket = claimed.last?.first { return (opened, shares, socket) }
        return (opened, shares, try open(admin, count: 1, replacing: left).first)
    }

    /// Opens the sockets of a listener, unless it inherits some; returns it with those of each loop.
    static func open(
        _ listener: Configuration.Listener, _ inherited: [ListeningSocket] = [], replacing former: [Endpoint],
        _ context: ProxyContext
    ) throws(StartError) -> (OpenListener, [[ListeningSocket]]) {
        var sockets = inherited
        if sockets.isEmpty {
            sockets = try open(
                listener.address, count: context.loopCount, isShared: listener.reusesPort, replacing: former,
                isMultipath: listener.isMultipath)
        }
        context.reportMissingPaths(listener, sockets)
        guard let endpoint = sockets.first?.endpoint else {
            throw .cannotListen(listener.address.description, "the name has no address")
        }
        return (OpenListener(opened: listener, endpoint: endpoint), sockets.shares(context.loopCount))
    }

    /// Returns the address of a listener; resolving a name blocks.
    private static func endpoint(of address: ConfiguredAddress) throws(StartError) -> Endpoint {
        guard let found = address.endpoints.first else {
            throw .cannotListen(address.description, "the name has no address")
        }
        return found
    }

    /// Opens `count` sockets at an address, beside existing ones if `isShared`.
    ///
    /// `former` are addresses that are about to be closed. Until then they are in the way of every address that
    /// overlaps with them, but of no other: what else listens there would get a part of the connections.
    static func open(
        _ address: ConfiguredAddress, count: Int, isShared: Bool = false, replacing former: [Endpoint] = [],
        isMultipath: Bool = false
    ) throws(StartError) -> [ListeningSocket] {
        let endpoint = try endpoint(of: address)
        let isReplacing = isShared || former.contains { $0.overlaps(endpoint) }
        do throws(SystemError) {
            return try ListeningSocket.open(
                endpoint, count: count, isReplacing: isReplacing, isMultipath: isMultipath)
        } catch {
            guard !error.isNoSocket else { throw .noSocket(address.description) }
            var why = error.text
            if error.isForbidden, case .tcp(_, 1..<1024) = address {
                why += " (ports below 1024 need CAP_NET_BIND_SERVICE, which low-ports.conf gives)"
            }
            throw .cannotListen(address.description, why)
        }
    }

    // MARK: Ends

    /// Drains: stops accepting, waits for requests in progress, resets the rest, and stores pending versions.
    ///
    /// The configuration sets the time unless `drainMilliseconds` does; `stopAtOnce` cuts it short. With `isHandedOver`
    /// another process accepts at the same sockets, including the admin listener's.
    ///
    /// - Returns: false if a loop is stuck; its unsaved data is lost.
    @discardableResult
    package func stop(drainMilliseconds: Int? = nil, isHandedOver: Bool = false) -> Bool {
        if isHandedOver { admin.perform { $0.listen(at: nil, $1) } } else { status.startDraining() }
        names.stop()
        status.history.stop()
        context.learned.stop()
        let time = drainMilliseconds ?? context.configuration.limits.drainTimeout
        let waiting = DispatchGroup()
        for part in parts {
            waiting.enter()
            part.loop.execute { core in
                guard let own = core.handler(part.token, as: ProxyLoop.self) else { return waiting.leave() }
                own.stop(core) { waiting.leave() }
            }
        }
        waiting.notify(queue: .global()) { [drained] in drained.signal() }
        // Before the wait for requests in progress: until then the successor keeps its new versions in memory only.
        if isHandedOver { context.store.handOver() }
        _ = drained.wait(timeout: .now() + .milliseconds(time))
        // The last responses may have logged users out.
        Self.waitForAtMost(Self.stuckMilliseconds) { [context] in context.forgetLeavingUsers(isLast: true) }
        // Before the loops on which it has connections.
        context.shared.redis?.stop()
        for part in parts {
            part.perform { own, _ in own.close() }
            part.loop.stop()
        }
        var areLoopsOver = true
        // Do not wait again after a stuck loop: the others have had the same time to end.
        for part in parts where !part.loop.join(milliseconds: areLoopsOver ? Self.stuckMilliseconds : 0) {
            areLoopsOver = false
        }
        admin.loop.stop()
        let isAdminOver = admin.loop.join(milliseconds: Self.stuckMilliseconds)
        return closeStore(isWaiting: areLoopsOver && isAdminOver)
    }

    /// A loop's turn takes milliseconds; a loop that takes longer than this is stuck.
    private static let stuckMilliseconds = 3_000

    /// Stores pending versions; does not wait after a stuck loop.
    private func closeStore(isWaiting: Bool) -> Bool {
        guard !isWaiting else {
            context.store.close()
            return true
        }
        Self.waitForAtMost(Self.stuckMilliseconds) { [context] in context.store.close() }
        return false
    }

    /// Begins work that uses the store and waits for its end, but not for ever: a stuck loop may hold a lock of the store.
    private static func waitForAtMost(_ milliseconds: Int, _ work: @escaping @Sendable () -> Void) {
        let item = DispatchWorkItem(block: work)
        DispatchQueue.global().async(execute: item)
        _ = item.wait(timeout: .now() + .milliseconds(milliseconds))
    }

    /// Ends the waiting of `stop`; requests in progress are reset.
    package func stopAtOnce() {
        drained.signal()
    }

    /// Returns every listening socket in the order of the listeners, the admin listener's last.
    ///
    /// Blocks. The sockets stay open while they are referenced, so release them soon.
    package func listeningSockets() -> [ListeningSocket] {
        // Nil stands for the admin listener.
        let found = Guarded<[ConfiguredAddress?: [ListeningSocket]]>([:])
        let asked = DispatchGroup()
        for part in parts {
            part.perform(in: asked) { own, _ in
                found.withLock { found in
                    for (address, sockets) in own.sockets { found[address, default: []] += sockets }
                }
            }
        }
        admin.perform(in: asked) { own, _ in found.withLock { $0[nil] = own.sockets } }
        asked.wait()
        let addresses = context.configuration.listeners.map { Optional($0.address) } + [nil]
        let sockets = found.withLock { $0 }
        var seen: Set<ObjectIdentifier> = []
        return addresses.flatMap { sockets[$0] ?? [] }.filter { seen.insert(ObjectIdentifier($0)).inserted }
    }
}

/// Detects upstreams that lead back to the proxy's own listeners.
enum OwnUpstream {
    static func check(_ servers: [UpstreamServer], _ listeners: some Sequence<Endpoint>) throws(StartError) {
        for listener in listeners {
            for server in servers where server.target.endpoint.leads(to: listener) {
                throw .ownUpstream(
                    server.text, listener: listener.text, setting: Configuration.Upstream.key(of: server.name)
                )
            }
        }
    }
}

/// Asks all loops for their counters.
///
/// A loop that does not respond counts with its last counters, since a sum of counters must not fall: Prometheus would take
/// that for a restart. Safe from any thread.
final class LoopCounterReader: Sendable {
    private let parts: [ProxyServer.LoopPart<ProxyLoop>]
    /// The last counters of each loop; nil before its first reading.
    private let latest: Guarded<[LoopCounters?]>

    init(_ parts: [ProxyServer.LoopPart<ProxyLoop>]) {
        self.parts = parts
        latest = Guarded([LoopCounters?](repeating: nil, count: parts.count))
    }

    /// Returns the counters of all loops; blocks for at most two seconds.
    func read() -> LoopReading {
        let silentLoops = Guarded(parts.count)
        let asked = DispatchGroup()
        for (index, part) in parts.enumerated() {
            part.perform(in: asked) { [latest] own, _ in
                let counters = own.counters
                latest.withLock { $0[index] = counters }
                silentLoops.withLock { $0 -= 1 }
            }
        }
        _ = asked.wait(timeout: .now() + .seconds(2))
        return LoopReading(
            counters: latest.withLock { $0.compactMap(\.self) }, silentLoops: silentLoops.withLock { $0 })
    }
}
