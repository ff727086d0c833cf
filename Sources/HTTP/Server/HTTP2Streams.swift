/// The streams of one HTTP/2 connection: their numbers, those that are open, and those of them that wait for something.
///
/// Pure. What it gives up it returns, so that nothing is released while it changes.
struct HTTP2Streams {
    /// The open ones in the order of their numbers: a new one has the largest.
    private(set) var open: [HTTP2Stream] = []
    var ids = StreamIdentifiers()
    var priorities = PrioritySignals()
    /// Those whose heads wait for the end of the loop's turn.
    var responding: [HTTP2Stream] = []
    /// Those whose response's source waits for room.
    var full: [HTTP2Stream] = []
    /// The requests that wait until the bytes that have come are read.
    var newRequests: [HTTP2Stream] = []
    /// The requests that wait for the handshake, because they may be replays (RFC 8470).
    var lateRequests: [HTTP2Stream] = []

    subscript(id: Int32) -> HTTP2Stream? {
        let index = index(of: id)
        return index < open.count && open[index].id == id ? open[index] : nil
    }

    /// Adds a stream, whose number is the largest so far.
    mutating func insert(_ stream: HTTP2Stream) { open.append(stream) }

    mutating func remove(_ id: Int32) -> HTTP2Stream? {
        let index = index(of: id)
        return index < open.count && open[index].id == id ? open.remove(at: index) : nil
    }

    /// Returns the place of the first stream whose number is not smaller.
    private func index(of id: Int32) -> Int {
        var (lower, upper) = (0, open.count)
        while lower < upper {
            let middle = (lower + upper) / 2
            if open[middle].id < id { lower = middle + 1 } else { upper = middle }
        }
        return lower
    }
}
