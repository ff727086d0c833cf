/// The client addresses that have needed a delta: two of them, which is enough to tell three apart.
struct DeltaPeers: Sendable {
    private var first: UInt128?
    private var second: UInt128?

    /// Adds an address; returns true if two others were added before.
    mutating func add(_ address: UInt128) -> Bool {
        if first == nil || first == address {
            first = address
            return false
        }
        if second == nil || second == address {
            second = address
            return false
        }
        return true
    }
}
