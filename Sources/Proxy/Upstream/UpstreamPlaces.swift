internal import Primitives

/// The places for requests at upstreams, of all loops: each request has one until its response has come whole.
///
/// A place stands for a connection to an upstream, and so for a descriptor. An HTTP/2 connection has up to a hundred
/// requests at a time, so the number of clients' connections bounds nothing of this. Clients share the places by
/// `FairShare`. A request without a place waits for one, in the order of arrival among those that may have the next.
///
/// Safe from any thread; outlives reloads.
final class UpstreamPlaces: Sendable {
    /// The bounds of a configuration.
    struct Limits: Sendable, Equatable {
        /// The places of all upstreams together.
        var countMax: Int
        /// The requests of one client at a time; nil for its fair share.
        var clientMax: Int?
    }

    struct Demand: Sendable {
        let client: ClientUse
        /// The places that the upstream has taken.
        let upstream: FairHolding
        /// The places of the upstream; nil without a maximum of its own.
        let upstreamMax: Int?
        /// The connections for which the system has ports.
        let portsMax: Int
        /// True if there is no other upstream to leave places for.
        let isOnlyUpstream: Bool

        func isLike(_ other: Demand) -> Bool { client === other.client && upstream === other.upstream }
    }

    /// A reason why a request gets no place now.
    enum Shortage: Error {
        case client
        /// All places are taken, or those of the upstream.
        case upstream
    }

    /// The requests that wait, of all clients; each has its fair share.
    static let waitingMax = 1024

    private struct State: Sendable {
        var limits: Limits
        var taken = 0
        var waiting: [PlaceWaiter] = []

        mutating func take(_ demand: borrowing Demand) -> Shortage? {
            let shortage = UpstreamPlaces.shortage(limits, taken: taken, demand)
            guard shortage == nil else { return shortage }
            taken += 1
            demand.enter()
            return nil
        }
    }

    private let state: Guarded<State>

    init(_ limits: Limits) {
        state = Guarded(State(limits: limits))
    }

    func adopt(_ limits: Limits) {
        grant { $0.limits = limits }
    }

    struct Counts: Sendable {
        let taken, waiting, max: Int
    }

    var counts: Counts {
        state.withLock { Counts(taken: $0.taken, waiting: $0.waiting.count, max: $0.limits.countMax) }
    }

    /// Takes a place, which `leave` gives back.
    func take(_ demand: Demand) throws(Shortage) {
        if let shortage = state.withLock({ $0.take(demand) }) { throw shortage }
    }

    /// Gives a place back, which the first request that may have it gets.
    func leave(_ demand: Demand) {
        grant(inPlaceOf: demand) { state in
            state.taken -= 1
            demand.leave()
        }
    }

    /// Waits for a place: `granted` is called once, on any thread, when the request has it.
    ///
    /// - Returns: nil if too many requests wait.
    func wait(_ demand: Demand, granted: @escaping @Sendable () -> Void) -> PlaceWaiter? {
        let waiter = PlaceWaiter(demand, granted)
        let hasPlace = state.withLock { state -> Bool? in
            // A place may have become free since `take`.
            if state.take(demand) == nil { return true }
            let free = Self.waitingMax - state.waiting.count
            guard
                FairShare.permits(1, having: demand.client.waiting.amount, free: free, part: FairShare.part)
            else { return nil }
            demand.client.waiting.add(1)
            state.waiting.append(waiter)
            return false
        }
        if hasPlace == true { granted() }
        return hasPlace == nil ? nil : waiter
    }

    /// Gives up the wait, or the place if it has been granted meanwhile.
    func cancel(_ waiter: PlaceWaiter) {
        let hasWaited = state.withLock { state in
            guard let index = state.waiting.firstIndex(where: { $0 === waiter }) else { return false }
            state.waiting.remove(at: index)
            waiter.demand.client.waiting.giveBack(1)
            return true
        }
        if !hasWaited { leave(waiter.demand) }
    }

    /// Makes a change, and gives the places that are free then to those that wait.
    ///
    /// A place that goes to the same client and upstream as before leaves nothing for the others, of which there may be
    /// a thousand.
    private func grant(inPlaceOf left: Demand? = nil, after change: (inout State) -> Void) {
        let granted = state.withLock { state -> [PlaceWaiter] in
            change(&state)
            // Most of the time nobody waits.
            guard !state.waiting.isEmpty else { return [] }
            var (granted, waiting): ([PlaceWaiter], [PlaceWaiter]) = ([], [])
            var isDone = false
            swap(&waiting, &state.waiting)
            waiting.removeAll { waiter in
                guard !isDone, state.take(waiter.demand) == nil else { return false }
                waiter.demand.client.waiting.giveBack(1)
                granted.append(waiter)
                isDone = left.map(waiter.demand.isLike) ?? false
                return true
            }
            swap(&waiting, &state.waiting)
            return granted
        }
        for waiter in granted { waiter.granted() }
    }

    /// An upstream leaves a fifth of the places to others, however slow it is.
    private static let partsOfOneUpstream = 4

    private static func shortage(_ limits: Limits, taken: Int, _ demand: borrowing Demand) -> Shortage? {
        let free = limits.countMax - taken
        let own = demand.upstream.amount
        guard free > 0, own < demand.upstreamMax ?? .max, own < demand.portsMax,
            demand.isOnlyUpstream || own < partsOfOneUpstream * free
        else { return .upstream }
        let client = demand.client
        guard !client.isKnown || client.requests.amount < limits.clientMax ?? .max,
            FairShare.permits(1, having: client.requests.amount, free: free, part: FairShare.part)
        else { return .client }
        // Of a maximum that an operator has set, each client may have half, since few places would be wasted otherwise.
        if let most = demand.upstreamMax,
            !FairShare.permits(1, having: client.requests(at: demand.upstreamID), free: most - own)
        {
            return .client
        }
        return nil
    }
}

extension UpstreamPlaces.Limits {
    init(_ configuration: Configuration) {
        countMax = DescriptorLimit.upstreamShare(of: configuration).requests
        clientMax = configuration.limits.client.requests
    }
}

final class PlaceWaiter: Sendable {
    fileprivate let demand: UpstreamPlaces.Demand
    fileprivate let granted: @Sendable () -> Void

    fileprivate init(_ demand: UpstreamPlaces.Demand, _ granted: @escaping @Sendable () -> Void) {
        (self.demand, self.granted) = (demand, granted)
    }
}

extension UpstreamPlaces.Demand {
    fileprivate var upstreamID: ObjectIdentifier { ObjectIdentifier(upstream) }

    fileprivate func enter() {
        upstream.add(1)
        client.requests.add(1)
        if upstreamMax != nil { client.enter(upstreamID) }
    }

    fileprivate func leave() {
        upstream.giveBack(1)
        client.requests.giveBack(1)
        if upstreamMax != nil { client.leave(upstreamID) }
    }
}
