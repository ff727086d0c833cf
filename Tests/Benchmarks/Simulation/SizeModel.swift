import Dictionaries
import Storage

/// The size of responses on the wire, by the age of the dictionary.
///
/// Measured with the real codecs at the start, on bodies of the feed whose ages are powers of two, and between
/// those by a straight line.
struct SizeModel: ResponseSizes {
    let bodyBytes: Int
    /// The best coding without a dictionary.
    let plainBytes: Int
    /// The size of a version on disk: its body, packed over another of the last hour, and its row.
    ///
    /// The capacity of the store follows from it.
    let packedBytes: Int
    /// A dictionary of another URL.
    let otherURLBytes: Int
    /// A dictionary that is the body itself.
    private let sameBytes: Int
    /// A dictionary of the same deploy, and of one before; 2^index seconds old.
    private let within: [Int]
    private let across: [Int]

    init() throws {
        let deploy = SimulatedFeed.deploySeconds
        let body = SimulatedFeed.body(at: 2 * deploy - 60, number: 1)
        bodyBytes = body.count
        plainBytes =
            try [ContentCoding.gzip, .zstd, .br].map { try Codec.encode(body.span, $0).count }.min()
            ?? body.count
        // A separate copy: Zstandard ignores a dictionary at the same address as the body.
        sameBytes = try Self.delta(from: SimulatedFeed.body(at: 2 * deploy - 60, number: 1), to: body)
        otherURLBytes = try Self.delta(
            from: SimulatedFeed.body(at: 2 * deploy - 90, number: 2, page: 1), to: body)
        packedBytes =
            try Self.mean([-60, -1900, -3700]) { (3 * deploy + $0 - 1800, 3 * deploy + $0) }
            + Self.rowBytes
        within = try (0...13).map { exponent in
            try Self.mean([-60, -1900, -3700]) { end in
                let second = 3 * deploy + end
                return (second - (1 << exponent), second)
            }
        }
        across = try (0...17).map { exponent in
            try Self.mean([0, 1 << exponent / 2, (1 << exponent) - 1]) { late in
                let second = 20 * deploy + late
                return (second - (1 << exponent), second)
            }
        }
    }

    /// A delta over a dictionary from `dictionary`, for a body from `second`.
    func deltaBytes(from dictionary: Int, to second: Int, _: DeltaStage = .first) -> Int {
        let age = second - dictionary
        guard age > 0 else { return sameBytes }
        let isSame = SimulatedFeed.deploy(at: dictionary) == SimulatedFeed.deploy(at: second)
        let table = isSame ? within : across
        let exponent = min(Int.bitWidth - 1 - age.leadingZeroBitCount, table.count - 2)
        let lower = 1 << exponent
        return table[exponent] + (table[exponent + 1] - table[exponent]) * min(age - lower, lower) / lower
    }

    private static func mean(_ offsets: [Int], _ pair: (Int) -> (Int, Int)) throws -> Int {
        let sizes = try offsets.map { offset in
            let (old, new) = pair(offset)
            return try delta(
                from: SimulatedFeed.body(at: old, number: old), to: SimulatedFeed.body(at: new, number: new))
        }
        return sizes.reduce(0, +) / sizes.count
    }

    private static func delta(from dictionary: [UInt8], to body: [UInt8]) throws -> Int {
        let options = EncoderOptions(dictionary: .reference(Body(dictionary)))
        return try Codec.encode(body.span, .dcz, options: options).count
    }
}
