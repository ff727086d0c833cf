/// About how many clients there were, from a bit for each address: one client counts once, however often it comes.
struct ClientSketch: Sendable {
    private static let bitCount = 256

    private var bits: InlineArray<4, UInt64> = [0, 0, 0, 0]

    init() {}

    /// The number of bits that are set; somewhat less than the number of clients, and 256 at most.
    var count: Int { (0..<4).reduce(0) { $0 + bits[$1].nonzeroBitCount } }

    /// Notes a client.
    mutating func insert(_ client: UInt128) {
        // Swift's hashes have a seed of the process, so that nobody can choose addresses with bits of their own.
        let bit = Int(UInt(bitPattern: client.hashValue) % UInt(Self.bitCount))
        bits[bit / 64] |= 1 << UInt64(bit % 64)
    }

    /// Notes the clients of another sketch.
    mutating func formUnion(_ other: ClientSketch) {
        for index in 0..<4 { bits[index] |= other.bits[index] }
    }
}
