/// Bytes that no coding can shrink; the same for the same seed.
package enum Noise {
    /// So many bytes.
    package static func bytes(_ count: Int, seed: UInt64) -> [UInt8] {
        var random = SplitMix(seed: seed)
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
