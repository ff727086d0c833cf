/// Whose turn it is among the addresses of the upstreams.
///
/// Pure: what it has to know of them it asks for. O(n) at most.
struct Balancer: Sendable {
    /// How requests are spread.
    enum Method: Sendable, Equatable {
        case roundRobin
        case leastConnections
    }

    private var next = 0

    /// The place of the one to take, out of `count`; nil where all are passed over.
    ///
    /// - Parameters:
    ///   - standing: of the one at a place; nil passes it over.
    ///   - active: the requests it has under way; asked for by `leastConnections` alone.
    mutating func choose(
        _ count: Int, by method: Method, standing: (Int) -> EndpointHealth.Standing?, active: (Int) -> Int
    ) -> Int? {
        guard count > 0 else { return nil }
        var least: (place: Int, active: Int)?
        var leastBad: (place: Int, badness: Int64)?
        for step in 0..<count {
            let place = (next % count + step) % count
            switch standing(place) {
            case nil: continue
            // A trial is a request like others; it takes no detour.
            case .due: return take(place, count)
            case .up:
                guard method == .leastConnections else { return take(place, count) }
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
