internal import Dictionaries

/// Packs bodies before they are written, most of them as a frame over an older body of the same chain and
/// path.
///
/// Confined to the write queue.
struct Packer: Sendable {
    /// The name of a line: the bodies of one path and variant in one chain.
    private struct LineName: Hashable, Sendable {
        let chain: ChainKey
        let path: String
        let variant: String
    }

    private struct Line: Sendable {
        let base: PackingBase
        /// The bytes of the base on disk.
        let baseBytes: Int
        var tables: PreparedDictionary?
        var choice = BaseChoice()
        /// The number of successive bodies that did not pack well.
        var failures = 0
        /// The number of bodies since then that were left whole without a trial.
        var skipped = 0
    }

    private var lines: RecencyMap<LineName, Line>
    /// The last used line of each chain.
    ///
    /// The first body of another path is tried over its base.
    private var newest: RecencyMap<ChainKey, LineName>

    /// The size below which bodies stay whole.
    private static let bytesMin = 256
    /// The ratio that a frame without base must reach; saving less than a sixteenth is not worth unpacking.
    private static let worthwhile = (of: 16, atMost: 15)
    /// The level for private bodies.
    ///
    /// They are many and have no base; this level saves 6 % more for 50 µs per 11 KB.
    private static let privateLevel = 6
    /// The number of successive failures after which only every 16th body is tried.
    private static let failuresMax = 4
    private static let trialEvery = 16

    /// Makes a packer that keeps bases of at most `bytesMax` bytes in memory.
    init(bytesMax: Int) {
        lines = RecencyMap(bytesMax: bytesMax)
        newest = RecencyMap(bytesMax: max(bytesMax / 8, 1 << 16))
    }

    /// The bytes of the bases in memory, with their indexes.
    var bytes: Int { lines.bytes + newest.bytes }

    /// Returns the packed form of a body that is about to be written; nil if it stays whole.
    ///
    /// - Parameter isShared: True if another version may have stored the body; such a body neither is nor
    ///   has a base.
    mutating func pack(_ body: Body, of version: Version, isShared: Bool) -> PackedBody? {
        guard body.count >= Self.bytesMin else { return nil }
        // A private body has no base: the base could only be a body of the same identity.
        if version.chainKey.scope.isSealed { return alone(body, level: Self.privateLevel) }
        if isShared { return alone(body) }
        let name = LineName(
            chain: version.chainKey, path: String(version.url.prefix { $0 != "?" }), variant: version.variant)
        if let line = lines.value(name) { return pack(body, of: version, over: line, name) }
        if let other = newest.value(version.chainKey), let line = lines.value(other),
            let packed = over(line.base, tables(of: line, other), body),
            packed.frame.count * 2 < line.baseBytes
        {
            return packed
        }
        return begin(name, with: body, of: version)
    }

    /// Forgets bases that are no longer on disk.
    mutating func forget(_ rows: Set<Int64>, of chains: some Sequence<ChainKey>) {
        for chain in chains {
            while let name = newest.value(chain), let line = lines.value(name), rows.contains(line.base.row) {
                lines.remove(name)
                newest.remove(chain)
            }
        }
    }

    mutating func forgetAll() {
        lines = RecencyMap(bytesMax: lines.bytesMax)
        newest = RecencyMap(bytesMax: newest.bytesMax)
    }

    // MARK: A line

    private mutating func pack(_ body: Body, of version: Version, over line: Line, _ name: LineName)
        -> PackedBody?
    {
        setNewest(name)
        if line.failures >= Self.failuresMax, line.skipped + 1 < Self.trialEvery {
            _ = lines.update(name) { $0.skipped += 1 }
            return alone(body)
        }
        guard let packed = over(line.base, tables(of: line, name), body) else {
            return begin(name, with: body, of: version)
        }
        let bytes = packed.frame.count
        guard bytes * 2 < line.baseBytes else {
            let failures = line.failures + 1
            return begin(name, with: body, of: version, failures: failures)
        }
        var choice = line.choice
        choice.record(frameBytes: bytes)
        guard !choice.isNewBaseDue(baseBytes: line.baseBytes) else {
            return begin(name, with: body, of: version)
        }
        _ = lines.update(name) { ($0.choice, $0.failures, $0.skipped) = (choice, 0, 0) }
        return packed
    }

    private mutating func begin(_ name: LineName, with body: Body, of version: Version, failures: Int = 0)
        -> PackedBody?
    {
        let packed = alone(body)
        let base = PackingBase(row: version.id, body: body)
        let line = Line(base: base, baseBytes: packed?.frame.count ?? body.count, failures: failures)
        _ = lines.insert(line, bytes: Self.bytes(of: body), for: name)
        setNewest(name)
        return packed
    }

    private mutating func setNewest(_ name: LineName) {
        _ = newest.insert(name, bytes: name.path.utf8.count + name.variant.utf8.count, for: name.chain)
    }

    /// Returns the bytes of a base in memory, with the index over it.
    private static func bytes(of body: Body) -> Int { 3 * body.count + 4096 }

    // MARK: Frames

    private mutating func tables(of line: Line, _ name: LineName) -> PreparedDictionary? {
        if let tables = line.tables { return tables }
        let base = line.base.body
        guard let tables = try? PreparedDictionary(base, for: .dcz, bodyBytesHint: base.count) else {
            return nil
        }
        _ = lines.update(name) { $0.tables = tables }
        return tables
    }

    private func over(_ base: PackingBase, _ tables: PreparedDictionary?, _ body: Body) -> PackedBody? {
        guard let tables, let frame = try? ZstdFrames.pack(body, over: tables) else { return nil }
        return PackedBody(frame: frame, base: base, count: body.count, digest: body.digest)
    }

    private func alone(_ body: Body, level: Int? = nil) -> PackedBody? {
        guard let frame = try? ZstdFrames.pack(body, level: level),
            frame.count * Self.worthwhile.of < body.count * Self.worthwhile.atMost
        else { return nil }
        return PackedBody(frame: frame, base: nil, count: body.count, digest: body.digest)
    }
}

/// Decides when a new base pays for the bodies that are packed over one.
///
/// It does once the excess of the frames over the current base, compared with the first, equals the cost of a base. That
/// costs at most twice as much as the best choice of bases known in advance.
package struct BaseChoice: Sendable {
    private var firstFrameBytes: Int?
    /// The bytes by which later frames together exceeded the first.
    private var excessBytes = 0

    package init() {}

    /// Records the size of a frame; a simulation counts it `times` times.
    package mutating func record(frameBytes: Int, times: Int = 1) {
        let first = firstFrameBytes ?? frameBytes
        firstFrameBytes = first
        excessBytes += max(0, frameBytes - first) * times
    }

    package func isNewBaseDue(baseBytes: Int) -> Bool { excessBytes > baseBytes }
}
