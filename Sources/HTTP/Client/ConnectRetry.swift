/// The attempts to connect to a Unix socket whose listener has no room.
///
/// With TCP the system goes on by itself. Here it refuses at once, and reports nothing when there is room, so try again until
/// the time for a connection is over.
struct ConnectRetry {
    private static let pauses: ClosedRange<Int64> = 5...100

    private let endpoint: Endpoint
    private let began: Int64
    /// The time of the next attempt, in milliseconds of the loop's clock.
    private(set) var next: Int64

    /// Nil for a socket that is connected, or becomes so by itself.
    init?(_ raw: Int32, to endpoint: Endpoint, now: Int64) {
        guard case .unix = endpoint, !Socket.hasPeer(raw) else { return nil }
        self.endpoint = endpoint
        began = now
        next = now + Self.pauses.lowerBound
    }

    /// Tries again; false if there is still no room.
    mutating func connect(_ raw: Int32, now: Int64) throws(SystemError) -> Bool {
        // A listener that has long been full has many who wait, so the pauses grow.
        next = now + min(max((now - began) / 2, Self.pauses.lowerBound), Self.pauses.upperBound)
        return try Socket.connect(raw, to: endpoint)
    }
}
