/// A set of bytes.
struct ByteSet: Equatable {
    private var low: (UInt64, UInt64) = (0, 0)
    private var high: (UInt64, UInt64) = (0, 0)

    /// Every byte.
    static let all = ByteSet(0...255)

    /// No byte.
    init() {}

    /// One byte.
    init(_ byte: UInt8) { insert(byte) }

    /// The bytes of a range.
    init(_ range: ClosedRange<UInt8>) {
        for byte in range { insert(byte) }
    }

    /// Whether the byte is in the set.
    func contains(_ byte: UInt8) -> Bool {
        let bit = UInt64(1) << UInt64(byte & 63)
        return switch byte >> 6 {
        case 0: low.0 & bit != 0
        case 1: low.1 & bit != 0
        case 2: high.0 & bit != 0
        default: high.1 & bit != 0
        }
    }

    /// Puts a byte into the set.
    mutating func insert(_ byte: UInt8) {
        let bit = UInt64(1) << UInt64(byte & 63)
        switch byte >> 6 {
        case 0: low.0 |= bit
        case 1: low.1 |= bit
        case 2: high.0 |= bit
        default: high.1 |= bit
        }
    }

    /// Puts all bytes of another set into this one.
    mutating func formUnion(_ other: ByteSet) {
        low = (low.0 | other.low.0, low.1 | other.low.1)
        high = (high.0 | other.high.0, high.1 | other.high.1)
    }

    /// The set without the bytes of another.
    func subtracting(_ other: ByteSet) -> ByteSet {
        var set = self
        set.low = (low.0 & ~other.low.0, low.1 & ~other.low.1)
        set.high = (high.0 & ~other.high.0, high.1 & ~other.high.1)
        return set
    }

    static func == (left: ByteSet, right: ByteSet) -> Bool {
        left.low == right.low && left.high == right.high
    }
}
