/// The tag of an id that was given out before its body was complete: a code of the id, the body and the chain.
///
/// The id itself is kept nowhere. Neither the store's file nor the shared store gives one away, and to make a tag takes
/// the store's key.
package struct PromisedTag: Hashable, Sendable {
    package static let byteCount = 16

    private let high: UInt64
    private let low: UInt64

    /// Takes the bytes of a tag; nil unless there are exactly 16.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes.dropFirst(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Eight of the bytes: a shorter key for tables that compare the whole later.
    var part: UInt64 { high }

    package var bytes: [UInt8] { BigEndian.bytes(high) + BigEndian.bytes(low) }
}

/// The tags of the ids under which clients were given one body before it was complete, when no digest was known to
/// derive an id from; the oldest first.
///
/// They stand in the row of their version, and go with it. Many clients may be given the same bytes, so there are many,
/// within two bounds: a network beyond its own displaces its own, and beyond that of all one of the network that has the
/// most goes first.
package struct PromisedIDs: Sendable, Equatable {
    package struct Promise: Sendable, Equatable {
        package let tag: PromisedTag
        /// The number of the client network; networks may share one, see `PrivateOrder`.
        package let network: UInt16

        package init(_ tag: PromisedTag, network: UInt16) {
            (self.tag, self.network) = (tag, network)
        }
    }

    package private(set) var all: [Promise] = []

    /// The greatest number of all networks, and of one.
    package static let countMax = 4096
    package static let countPerNetworkMax = 128
    /// The bytes of one in the budgets, for memory and disk: the more of the two, estimated from above.
    static let bytesEach = 48
    /// The bytes of one in a row.
    static let encodedBytes = 2 + PromisedTag.byteCount

    package init(_ promises: [Promise] = []) {
        for promise in promises { insert(promise) }
    }

    package var isEmpty: Bool { all.isEmpty }
    package var count: Int { all.count }

    func contains(_ tag: PromisedTag) -> Bool { all.contains { $0.tag == tag } }

    /// Adds one, and returns the one that goes for it; has no effect if it is here already.
    @discardableResult
    mutating func insert(_ promise: Promise) -> PromisedTag? {
        guard !contains(promise.tag) else { return nil }
        all.append(promise)
        if all.count > Self.countPerNetworkMax,
            all.count(where: { $0.network == promise.network }) > Self.countPerNetworkMax
        {
            return all.firstIndex { $0.network == promise.network }.map { all.remove(at: $0).tag }
        }
        guard all.count > Self.countMax else { return nil }
        var counts: [UInt16: Int] = [:]
        for one in all { counts[one.network, default: 0] += 1 }
        let most = counts.values.max()
        return all.firstIndex { counts[$0.network] == most }.map { all.remove(at: $0).tag }
    }

    // MARK: Bytes of a row or a message

    /// The encoding: of each its network and its tag.
    package var bytes: [UInt8] {
        all.flatMap { BigEndian.bytes($0.network) + $0.tag.bytes }
    }

    /// Reads the encoding; what does not belong to a whole one is skipped.
    package init(bytes: [UInt8]) {
        for start in stride(from: 0, through: bytes.count - Self.encodedBytes, by: Self.encodedBytes) {
            let network = UInt16(bytes[start]) << 8 | UInt16(bytes[start + 1])
            guard let tag = PromisedTag(bytes: bytes[start + 2..<start + Self.encodedBytes]) else { continue }
            insert(Promise(tag, network: network))
        }
    }
}
