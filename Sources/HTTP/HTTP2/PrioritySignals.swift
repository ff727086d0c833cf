/// The client's priority signals on one connection (RFC 9218).
///
/// Pure. Keeps the newest PRIORITY_UPDATE of each stream that is not open yet, which counts more than the request's own
/// field (section 7).
struct PrioritySignals: Sendable {
    /// The updates of streams that are still idle.
    private var updates: [Int32: Priority] = [:]
    /// True once the client has signalled any priority.
    private var isUsed = false

    /// The priority of requests while the client signals none: it may not know RFC 9218, and expects that responses
    /// share the connection evenly.
    private static let even = Priority(isIncremental: true)

    /// Notes that a client has signalled the priority of an open stream.
    mutating func note() { isUsed = true }

    /// Keeps the update of an idle stream, while `openCount` others are open; returns false if the client prioritizes
    /// more streams than it may open (RFC 9218 section 7.1).
    mutating func keep(_ priority: Priority, forIdle stream: Int32, openCount: Int) -> Bool {
        isUsed = true
        guard updates[stream] != nil || updates.count + openCount < HTTP2Settings.streamsMax else {
            return false
        }
        updates[stream] = priority
        return true
    }

    /// Returns the priority of a stream that has been opened with a field, if it had one.
    mutating func take(forOpened stream: Int32, field: Priority?) -> Priority {
        if field != nil { isUsed = true }
        guard let update = takeUpdate(forOpened: stream) else {
            return field ?? (isUsed ? Priority() : Self.even)
        }
        return update
    }

    private mutating func takeUpdate(forOpened stream: Int32) -> Priority? {
        guard !updates.isEmpty else { return nil }
        let update = updates[stream]
        // A client that opens a stream closes the idle ones before it (RFC 9113 section 5.1.1).
        updates = updates.filter { $0.key > stream }
        return update
    }
}

struct ResponsePriority: Sendable {
    var asked = Priority()
    /// The parameters that the response's own field has, which count where they differ (RFC 9218 section 8).
    private var correction = Priority()

    var effective: Priority { correction.merged(over: asked) }

    /// Notes the response's own field; returns true if that changes the priority.
    mutating func correct(by headers: borrowing Headers) -> Bool {
        let new = Priority(headers) ?? Priority()
        guard new != correction else { return false }
        correction = new
        return true
    }
}
