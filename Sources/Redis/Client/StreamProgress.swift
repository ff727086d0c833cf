/// The progress in one stream that is followed, and what its server's facts say about it; a pure value.
struct StreamProgress: Sendable {
    /// The position of the last entry that was passed on.
    private(set) var last = RedisStreamID.zero
    /// The number of entries ever added up to `last`; nil before the first look.
    private var added: Int64?
    /// The position that must be reached to have caught up.
    private(set) var goal = RedisStreamID.zero

    var hasCaughtUp: Bool { last >= goal }

    mutating func pass(_ entries: [RedisStreamEntry]) {
        guard let end = entries.last else { return }
        last = end.id
        added = added.map { $0 &+ Int64(entries.count) }
    }

    /// Notes that no entry is left, as where the last one was deleted.
    mutating func noteEnd() { goal = min(goal, last) }

    /// Begins again with the first entry.
    ///
    /// The numbers are the server's, and may be any.
    mutating func restart(_ facts: StreamFacts) {
        last = .zero
        added = facts.added &- facts.length
        goal = facts.lastID
    }

    /// Adopts the server's facts; returns true if entries may be missing, so that reading must begin again.
    ///
    /// The number of entries ever added tells a trimmed stream from one that was made anew. Positions do not: after
    /// FLUSHALL they continue, since they are times.
    mutating func adopt(_ facts: StreamFacts) -> Bool {
        guard let added else {
            restart(facts)
            return false
        }
        goal = max(goal, facts.lastID)
        let isTrimmed = facts.added &- facts.length > added
        let isAnew = facts.added < added || facts.lastID < last
        return isTrimmed || isAnew
    }
}

/// A stream as XINFO STREAM describes it.
struct StreamFacts: Sendable, Equatable {
    var length: Int64 = 0
    var lastID = RedisStreamID.zero
    /// The number of entries ever added (Redis 7).
    var added: Int64 = 0

    /// Reads the reply of XINFO STREAM; a missing stream is an empty one, and nil stands for other replies.
    init?(_ reply: RESPValue) {
        if let error = reply.error {
            guard error.isMissingKey else { return nil }
            return
        }
        guard let items = reply.array else { return nil }
        var names: Set<String> = []
        for (name, value) in items.pairs {
            guard let name = name.text else { continue }
            switch name {
            case "length": length = value.integer ?? 0
            case "entries-added": added = value.integer ?? 0
            case "last-generated-id": lastID = value.text.flatMap(RedisStreamID.init) ?? .zero
            default: continue
            }
            names.insert(name)
        }
        guard names.count == 3 else { return nil }
    }
}

/// The reply of XREAD, in either version of the protocol.
enum StreamReply {
    /// Returns the entries of each stream in the order of the reply; nil for anything else.
    static func read(_ reply: RESPValue) -> [(stream: [UInt8], entries: [RedisStreamEntry])]? {
        if reply == .null { return [] }
        guard let items = reply.array else { return nil }
        // RESP3 sends a map, which is read as keys and values in turn; RESP2 sends pairs.
        let isFlat = items.first?.bytes != nil
        var pairs: [(RESPValue, RESPValue)] = []
        if isFlat {
            guard items.count.isMultiple(of: 2) else { return nil }
            pairs = items.pairs
        } else {
            for item in items {
                guard let pair = item.array, pair.count == 2 else { return nil }
                pairs.append((pair[0], pair[1]))
            }
        }
        var streams: [(stream: [UInt8], entries: [RedisStreamEntry])] = []
        for (name, list) in pairs {
            guard let name = name.bytes, let list = list.array else { return nil }
            var entries: [RedisStreamEntry] = []
            for item in list {
                guard let entry = entry(item) else { return nil }
                entries.append(entry)
            }
            streams.append((name, entries))
        }
        return streams
    }

    private static func entry(_ item: RESPValue) -> RedisStreamEntry? {
        guard let pair = item.array, pair.count == 2, let id = pair[0].text.flatMap(RedisStreamID.init)
        else { return nil }
        let words = pair[1].array ?? []
        guard words.count.isMultiple(of: 2) else { return nil }
        var fields: [(name: [UInt8], value: [UInt8])] = []
        for (name, value) in words.pairs {
            // Larger than any that Dictum writes.
            if name.error != nil || value.error != nil { continue }
            guard let name = name.bytes, let value = value.bytes else { return nil }
            fields.append((name, value))
        }
        return RedisStreamEntry(id: id, fields: fields)
    }
}
