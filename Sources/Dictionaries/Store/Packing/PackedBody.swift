/// A whole body over which others are packed.
final class PackingBase: Sendable {
    /// Its row in the table of bodies.
    let row: Int64
    let body: Body

    init(row: Int64, body: Body) {
        self.row = row
        self.body = body
    }
}

/// A body as a Zstandard frame, over a base or alone.
final class PackedBody: Sendable {
    let frame: [UInt8]
    let base: PackingBase?
    /// The length and the digest of the whole body.
    let count: Int
    let digest: Digest

    init(frame: [UInt8], base: PackingBase?, count: Int, digest: Digest) {
        self.frame = frame
        self.base = base
        self.count = count
        self.digest = digest
    }

    /// The whole body; its digest was checked when the frame was made or read, its checksum is now.
    func unpacked() throws(CodingError) -> Body {
        Body(try ZstdFrames.unpack(frame, count: count, over: base?.body), digest: digest)
    }
}

/// The bases that something in memory leans on, by their rows, so that there is one object of each.
final class PackingBases: Sendable {
    private struct Reference: Sendable {
        weak var base: PackingBase?
    }

    private struct State: Sendable {
        var references: [Int64: Reference] = [:]
        /// How many there may be before those that are gone are dropped.
        var countMax = 64
    }

    private let state = Guarded(State())

    /// The base with a row, if something has it.
    func base(_ row: Int64) -> PackingBase? { state.withLock { $0.references[row]?.base } }

    /// Notes a base, unless there is one of its row; returns the one that counts.
    func note(_ base: PackingBase) -> PackingBase {
        state.withLock { state in
            if let known = state.references[base.row]?.base { return known }
            if state.references.count >= state.countMax {
                state.references = state.references.filter { $0.value.base != nil }
                state.countMax = max(64, 2 * state.references.count)
            }
            state.references[base.row] = Reference(base: base)
            return base
        }
    }
}
