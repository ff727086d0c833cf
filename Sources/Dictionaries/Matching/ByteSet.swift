/// A set of bytes.
struct ByteSet {
    private var low: (UInt64, UInt64) = (0, 0)
    private var high: (UInt64, UInt64) = (0, 0)

    /// Every byte.
    static let all = {
        var set = ByteSet()
        for byte in UInt8.min...UInt8.max { set.insert(byte) }
        return set
    }()

    init() {}

    func contains(_ byte: UInt8) -> Bool {
        let bit = UInt64(1) << UInt64(byte & 63)
        return switch byte >> 6 {
        case 0: low.0 & bit != 0
        case 1: low.1 & bit != 0
        case 2: high.0 & bit != 0
        default: high.1 & bit != 0
        }
    }

    mutating func insert(_ byte: UInt8) {
        let bit = UInt64(1) << UInt64(byte & 63)
        switch byte >> 6 {
        case 0: low.0 |= bit
        case 1: low.1 |= bit
        case 2: high.0 |= bit
        default: high.1 |= bit
        }
    }
}
