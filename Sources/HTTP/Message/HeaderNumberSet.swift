/// A set of well-known names, one bit for each number.
struct HeaderNumberSet: Sendable {
    private var bits: InlineArray<4, UInt64> = [0, 0, 0, 0]

    mutating func insert(_ number: UInt8) {
        bits[Int(number >> 6)] |= 1 << UInt64(number & 63)
    }

    @inline(__always)
    func contains(_ number: UInt8) -> Bool { bits[Int(number >> 6)] & (1 << UInt64(number & 63)) != 0 }
}
