/// An approximate count of distinct clients, with one bit per hashed address.
struct ClientSketch: Sendable {
    private static let bitCount = 256

    private var bits: InlineArray<4, UInt64> = [0, 0, 0, 0]

    init() {}

    /// The number of set bits: somewhat less than the number of clients, and at most 256.
    var count: Int { (0..<4).reduce(0) { $0 + bits[$1].nonzeroBitCount } }

    /// Adds a client.
    mutating func insert(_ client: UInt128) {
        // Swift seeds its hashes per process, so that clients cannot choose addresses by bit.
        let bit = Int(UInt(bitPattern: client.hashValue) % UInt(Self.bitCount))
        bits[bit / 64] |= 1 << UInt64(bit % 64)
    }

    /// Adds the clients of another sketch.
    mutating func formUnion(_ other: ClientSketch) {
        for index in 0..<4 { bits[index] |= other.bits[index] }
    }
}
