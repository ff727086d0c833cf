/// Bytes that no coding can shrink; the same for the same seed.
enum Noise {
    static func bytes(_ count: Int, seed: UInt64) -> [UInt8] {
        var random = SplitMix(state: seed)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 8)
        while bytes.count < count {
            let word = random.next()
            for shift in 0..<8 as Range<UInt64> {
                bytes.append(UInt8(truncatingIfNeeded: word >> (shift * 8)))
            }
        }
        return Array(bytes.prefix(count))
    }
}

/// The generator SplitMix64: small, and the same everywhere.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var word = state
        word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
        return word ^ (word >> 31)
    }
}
