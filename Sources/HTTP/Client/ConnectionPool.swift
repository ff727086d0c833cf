internal import Glibc

/// The connections of one loop to its upstreams: the busy ones, and the idle ones for later requests.
///
/// Confined to its loop.
package final class ConnectionPool {
    private let core: EventLoop.Core
    private var settings: ClientSettings
    private var targetPools: [UpstreamTarget: TargetPool] = [:]
    private var sessions = TLSSessions()
    /// The generation of the settings, which `adopt` increments.
    private(set) var generation = 0
    package private(set) var idleCount = 0
    /// The number of connections with an exchange in progress, over all upstreams.
    package private(set) var activeCount = 0
    private var recentPeak = RecentPeak()

    package private(set) var openedCount = 0
    /// Called with the time that each new connection took, TLS included, in nanoseconds.
    let onConnect: (Int64) -> Void

    package init(
        settings: ClientSettings, core: EventLoop.Core, onConnect: @escaping (Int64) -> Void = { _ in }
    ) {
        self.settings = settings
        self.core = core
        self.onConnect = onConnect
    }

    /// Returns the idle connections of a target, always the same object until `keep` drops it.
    package func targetPool(for target: UpstreamTarget) -> TargetPool {
        if let targetPool = targetPools[target] { return targetPool }
        let targetPool = TargetPool(target)
        targetPools[target] = targetPool
        return targetPool
    }

    /// Returns the most recently used idle connection, or a new one if there is none or `fresh` is set.
    ///
    /// The exchange's handler learns of a failure to connect.
    package func connection(from targetPool: TargetPool, fresh: Bool = false) throws(SystemError)
        -> ClientConnection
    {
        if !fresh, let kept = keptConnection(from: targetPool) { return kept }
        return connection(from: targetPool, over: try transport(to: targetPool.target))
    }

    /// Returns the most recently used idle connection; nil without one.
    func keptConnection(from targetPool: TargetPool) -> ClientConnection? {
        guard let kept = targetPool.idle.popLast() else { return nil }
        idleCount -= 1
        settings.idleConnections?.leave()
        noteActive()
        return kept
    }

    /// Makes a connection over a transport, which may still have to connect.
    func connection(from targetPool: TargetPool, over transport: any ConnectionTransport) -> ClientConnection
    {
        noteActive()
        openedCount += 1
        return ClientConnection(
            targetPool: targetPool, transport: transport, settings: settings, pool: self, core: core)
    }

    private func noteActive() {
        activeCount += 1
        recentPeak.note(activeCount, now: core.now)
    }

    /// The maximum number of idle connections: the setting, or as many as the recent load may need again.
    ///
    /// Without the second part, a load of more connections than the setting would constantly close and reopen
    /// them.
    private var idleMax: Int {
        let settled = settings.keepAliveMax
        // The connection that asks still counts as active.
        return settled == 0 ? 0 : max(settled, recentPeak.value(now: core.now) - activeCount + 1)
    }

    /// Makes a transport that has begun to connect.
    func transport(to target: UpstreamTarget) throws(SystemError) -> any ConnectionTransport {
        let context = target.scheme == .https ? settings.tls : nil
        // An https target is never reached in clear.
        guard target.scheme == .http || context != nil else { throw SystemError(code: EPROTONOSUPPORT) }
        return try TLSTransport.open(to: target.endpoint, host: target.host, by: context, sessions)
    }

    /// Makes new connections with other settings.
    ///
    /// Idle connections have the former settings and are closed; busy ones end their exchange with them.
    package func adopt(_ settings: ClientSettings) {
        self.settings = settings
        generation += 1
        // Sessions under the former authorities are not resumed, even those whose ticket is still to come.
        sessions = TLSSessions()
        closeIdle()
    }

    /// Keeps connections to these targets only.
    ///
    /// Idle ones of other targets are closed; busy ones end their exchange first.
    package func keep(_ targets: some Sequence<UpstreamTarget>) {
        let kept = Set(targets)
        for (target, targetPool) in targetPools where !kept.contains(target) {
            targetPools[target] = nil
            targetPool.isKept = false
            for connection in targetPool.idle { connection.close() }
        }
    }

    /// Takes a connection back after a complete exchange.
    func release(_ connection: ClientConnection) {
        let targetPool = connection.targetPool
        guard connection.generation == generation, targetPool.isKept, idleCount < idleMax,
            settings.idleConnections?.enter(limit: settings.idleConnectionsMax) ?? true
        else { return connection.close() }
        activeCount -= 1
        targetPool.idle.append(connection)
        idleCount += 1
    }

    func closed(_ connection: ClientConnection) {
        if let index = connection.targetPool.idle.lastIndex(where: { $0 === connection }) {
            connection.targetPool.idle.remove(at: index)
            idleCount -= 1
            settings.idleConnections?.leave()
        } else {
            activeCount -= 1
        }
    }

    package func closeIdle() {
        for targetPool in targetPools.values {
            for connection in targetPool.idle { connection.close() }
        }
    }
}

/// The idle connections of one loop to one target.
///
/// Confined to its loop. Keep it to send many requests to a target, since each look-up costs a hash.
package final class TargetPool {
    package let target: UpstreamTarget
    /// The idle connections, the most recently used at the end.
    fileprivate(set) var idle: [ClientConnection] = []
    /// True while connections may be kept; false once the target is gone.
    var isKept = true

    init(_ target: UpstreamTarget) {
        self.target = target
    }
}

/// The highest value of the last seconds: of the current window and the one before it.
///
/// Pure.
struct RecentPeak: Sendable {
    /// The length of a window in milliseconds: a peak counts for at least this time, and at most twice as long.
    static let windowMilliseconds: Int64 = 10_000

    private var former = 0
    private var current = 0
    private var windowEnd: Int64 = 0

    mutating func note(_ value: Int, now: Int64) {
        advance(to: now)
        current = max(current, value)
    }

    /// Returns the highest value of the current window and the one before it.
    mutating func value(now: Int64) -> Int {
        advance(to: now)
        return max(former, current)
    }

    private mutating func advance(to now: Int64) {
        guard now >= windowEnd else { return }
        // After a whole window without values nothing is recent.
        former = now - windowEnd < Self.windowMilliseconds ? current : 0
        current = 0
        windowEnd = now + Self.windowMilliseconds
    }
}
