internal import HTTP

/// The way of one request to the upstreams: where it is now, and which of them have failed it.
struct UpstreamAttempt {
    /// The connection that the request is on; nil before, and once its response is complete.
    var connection: ClientConnection?
    var head: RequestHead?
    /// The address that the request is at, or was last.
    private(set) var address: LoopAddress?
    /// The servers that have failed the request; each is asked once if there is another.
    var failedServers: [UpstreamServer] = []
    /// The time from the request's head to this try.
    var startMicroseconds = 0
    /// A lost connection that holds the whole request, because it sent none of it and no other could be made.
    var unsent: ClientConnection?
    /// The place of the request among all requests at upstreams.
    var place = Place.none

    enum Place {
        case none
        case waiting(PlaceWaiter)
        case taken(UpstreamPlaces.Demand)
    }

    /// True while the request waits for others to end.
    var isWaiting: Bool { if case .waiting = place { true } else { false } }

    /// Gives the place back, or ends the wait for one.
    mutating func leavePlace(_ places: UpstreamPlaces) {
        if case .none = place { return }
        switch exchange(&place, with: .none) {
        case .none: break
        case .waiting(let waiter): places.cancel(waiter)
        case .taken(let demand): places.leave(demand)
        }
    }

    /// The server that counts the request as load.
    private var loadedServer: UpstreamServer?

    var server: UpstreamServer? { address?.server }

    /// Notes the address that the request goes to now; `countsLoad` says that the server counts it.
    mutating func enter(_ address: LoopAddress, countsLoad: Bool) {
        leaveServer()
        self.address = address
        guard countsLoad else { return }
        address.server.enter()
        loadedServer = address.server
    }

    /// Notes that the server has nothing more to do for this request.
    mutating func leaveServer() { loadedServer.take()?.leave() }

    /// Sends the request's head on its connection, which calls nobody; mutating, so that the attempt is lent and not copied.
    mutating func sendHead(framing: BodyFraming, handler: any ResponseHandler) {
        if let head { connection?.begin(head, framing: framing, handler: handler) }
    }

    mutating func takeLost() -> ClientConnection? {
        let lost = connection ?? unsent
        connection = nil
        unsent = nil
        return lost
    }

    /// Lets everything go but the connection.
    mutating func end() {
        unsent = nil
        leaveServer()
    }
}
