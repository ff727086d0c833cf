/// The bytes of a connection that may wait for the socket: those that priorities cannot reorder any more.
///
/// Pure. Few on a slow link, so that an urgent response overtakes the others soon. More on a fast one, where they are
/// gone within milliseconds, and where small writes would cost a sixth of the throughput.
struct OutputQuota: Sendable {
    /// The quota of a slow link, which is one TLS record.
    static let small = 16 * 1024
    /// The quota of a fast link.
    static let large = 64 * 1024
    /// The bytes per millisecond of a fast link.
    static let fastRate = 10_000
    /// The milliseconds between two looks at the rate.
    static let interval: Int64 = 100

    private(set) var bytes = OutputQuota.small
    private var passedBytes = 0
    private var since: Int64

    init(now: Int64) { since = now }

    /// Notes bytes that the socket has taken; returns true if the quota has changed.
    mutating func passed(_ count: Int, at now: Int64) -> Bool {
        passedBytes += count
        let milliseconds = now - since
        guard milliseconds >= Self.interval else { return false }
        let next = Int64(passedBytes) >= milliseconds * Int64(Self.fastRate) ? Self.large : Self.small
        (since, passedBytes) = (now, 0)
        guard next != bytes else { return false }
        bytes = next
        return true
    }
}
