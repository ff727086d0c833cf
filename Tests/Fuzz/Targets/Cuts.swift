/// Places at which an input is cut into pieces: chosen by the input itself, so that a finding can be repeated.
struct Cuts {
    /// Every byte comes alone.
    static let single = Cuts(state: nil)

    private var state: UInt64?

    private init(state: UInt64?) { self.state = state }

    /// Pieces that are mostly short, sometimes all that is left.
    init(_ bytes: [UInt8]) {
        // FNV-1a over the input.
        state = bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0100_0000_01B3 }
    }

    /// The end of the next piece behind `start`.
    mutating func next(after start: Int, count: Int) -> Int {
        guard let last = state else { return min(count, start + 1) }
        let next = last &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        state = next
        let step = next >> 60 == 0 ? count : 1 + Int(truncatingIfNeeded: next >> 33) % 7
        return min(count, start + max(1, step))
    }
}
