/// Chooses the address that the next request goes to.
///
/// Pure: it asks for the state of the addresses. O(n).
struct Balancer: Sendable {
    /// The rule that spreads requests.
    enum Rule: Sendable, Equatable {
        case roundRobin
        case leastConnections
    }

    private var next = 0

    /// Returns the position of the chosen address out of `count`, or nil if all are skipped.
    ///
    /// - Parameters:
    ///   - standing: returns the standing of the address at a position, or nil to skip it.
    ///   - active: returns the requests in progress at an address; called for `leastConnections` only.
    mutating func choose(
        _ count: Int, by rule: Rule, standing: (Int) -> EndpointHealth.Standing?, active: (Int) -> Int
    ) -> Int? {
        guard count > 0 else { return nil }
        var least: (place: Int, active: Int)?
        var leastBad: (place: Int, badness: Int64)?
        for step in 0..<count {
            let place = (next % count + step) % count
            switch standing(place) {
            case nil: continue
            // A trial request is a request like others and takes no detour.
            case .due: return take(place, count)
            case .up:
                guard rule == .leastConnections else { return take(place, count) }
                let active = active(place)
                if active < least?.active ?? .max { least = (place, active) }
            case .out(let badness):
                if leastBad.map({ badness < $0.badness }) ?? true { leastBad = (place, badness) }
            }
        }
        guard let place = least?.place ?? leastBad?.place else { return nil }
        return take(place, count)
    }

    private mutating func take(_ place: Int, _ count: Int) -> Int {
        next = (place + 1) % count
        return place
    }
}
