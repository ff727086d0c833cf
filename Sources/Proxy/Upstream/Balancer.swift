/// Chooses the address that the next request goes to.
///
/// Pure: it asks for the state of the addresses. O(n).
struct Balancer: Sendable {
    private var next = 0

    /// Returns the position of the chosen address out of `count`, or nil if all are skipped.
    ///
    /// - Parameters:
    ///   - standing: returns the standing of the address at a position, or nil to skip it.
    ///   - active: returns the requests in progress at an address; called for `leastConnections` only.
    mutating func choose(
        _ count: Int, by rule: Configuration.Upstream.Balance, standing: (Int) -> EndpointHealth.Standing?,
        active: (Int) -> Int
    ) -> Int? {
        guard count > 0 else { return nil }
        var least: (index: Int, active: Int)?
        var leastBad: (index: Int, badness: Int64)?
        for step in 0..<count {
            let index = (next + step) % count
            switch standing(index) {
            case nil: continue
            // A trial request is a request like others and takes no detour.
            case .due: return take(index, count)
            case .up:
                guard rule == .leastConnections else { return take(index, count) }
                let active = active(index)
                if active < least?.active ?? .max { least = (index, active) }
            case .out(let badness):
                if leastBad.map({ badness < $0.badness }) ?? true { leastBad = (index, badness) }
            }
        }
        guard let index = least?.index ?? leastBad?.index else { return nil }
        return take(index, count)
    }

    private mutating func take(_ index: Int, _ count: Int) -> Int {
        next = (index + 1) % count
        return index
    }
}
