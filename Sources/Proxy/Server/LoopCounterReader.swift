internal import Dispatch
internal import Primitives

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
