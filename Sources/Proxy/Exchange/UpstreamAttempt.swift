internal import Dictionaries
internal import HTTP
internal import Primitives

/// The way of one request to the upstreams: where it is now, and which of them have failed it.
struct UpstreamAttempt {
    /// The connection that the request is on; nil before, and once its response is complete.
    var connection: ClientConnection?
    var head: RequestHead?
    /// The address that the request is at, or was last.
    private(set) var address: LoopAddress?
    /// The servers that have failed the request; each is asked once if there is another.
    private(set) var failedServers: [UpstreamServer] = []
    /// The time from the request's head to this try.
    private(set) var startMicroseconds = 0
    /// A lost connection that holds the whole request, because it sent none of it.
    private var unsent: ClientConnection?
    /// The place of the request among all requests at upstreams.
    var place = Place.none

    /// The place of a request at its upstream.
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
        var former = Place.none
        swap(&former, &place)
        switch former {
        case .none: break
        case .waiting(let waiter): places.cancel(waiter)
        case .taken(let demand): places.leave(demand)
        }
    }

    /// The server that counts the request as load.
    private var loadedServer: UpstreamServer?

    /// The server that the request is at, or was last.
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
    mutating func leaveServer() {
        loadedServer?.leave()
        loadedServer = nil
    }

    mutating func begin(on connection: ClientConnection) {
        self.connection = connection
        unsent = nil
    }

    /// Keeps a lost connection that still holds the request, as no other could be made.
    mutating func keepUnsent(_ lost: ClientConnection?) { unsent = lost }

    /// Takes out the connection, to give it up.
    mutating func takeConnection() -> ClientConnection? { connection.take() }

    /// Takes out the connection that has failed.
    mutating func takeLost() -> ClientConnection? {
        let lost = connection ?? unsent
        connection = nil
        unsent = nil
        return lost
    }

    /// Notes that the request is tried again, so long after its head.
    mutating func restart(afterMicroseconds time: Int) { startMicroseconds = time }

    mutating func noteFailed(_ server: UpstreamServer) { failedServers.append(server) }

    mutating func forgiveServers() { failedServers = [] }

    /// Lets everything go but the connection.
    mutating func end() {
        unsent = nil
        leaveServer()
    }
}

/// The body of a request as far as it has come.
struct RequestUpload {
    let framing: BodyFraming
    private(set) var bytes = 0
    private(set) var isWhole: Bool
    /// What came while the request waited for a place: at most what was on its way when the client was paused.
    private var kept: (bytes: [UInt8], trailers: Headers?) = ([], nil)
    /// Reads the operation from the request body while it passes; nil if the body cannot name one.
    private var reading: (key: OperationKey, members: JSONMembers)?

    init(_ framing: BodyFraming) {
        self.framing = framing
        isWhole = framing == .none || framing == .length(0)
    }

    var hasBody: Bool { framing != .none && framing != .length(0) }

    /// Has the members of a key read in the body that is to come.
    mutating func read(_ key: OperationKey) {
        if hasBody { reading = (key, JSONMembers(key.paths)) }
    }

    /// The operation that the body names; nil unless a whole JSON object has come so far.
    var operation: RequestOperation? { reading.flatMap { RequestOperation($0.key, $0.members.values) } }

    mutating func received(_ piece: Span<UInt8>) {
        bytes += piece.count
        reading?.members.read(piece)
    }

    mutating func receivedEnd() { isWhole = true }

    mutating func keep(_ piece: Span<UInt8>) { kept.bytes.append(piece) }

    mutating func keepEnd(_ trailers: Headers) { kept.trailers = trailers }

    /// Takes out what was kept; `trailers` are there if the body was whole.
    mutating func takeKept() -> (bytes: [UInt8], trailers: Headers?) {
        var taken: (bytes: [UInt8], trailers: Headers?) = ([], nil)
        swap(&taken, &kept)
        return taken
    }
}
