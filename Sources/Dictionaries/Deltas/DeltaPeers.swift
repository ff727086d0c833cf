/// The client addresses that have asked for a delta, as far as they are needed to tell three apart.
struct DeltaPeers: Sendable {
    private var first: UInt128?
    private var second: UInt128?

    /// Notes an address; true if two others have asked before.
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
