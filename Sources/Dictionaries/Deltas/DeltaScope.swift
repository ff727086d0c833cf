/// Who may get a delta or use an index: part of every key here, so that nothing made for one is found by another.
package enum DeltaScope: Hashable, Sendable {
    /// The public chains of all authorities: the digests name the bytes, and anyone may have them.
    case `public`
    /// One private chain, by its name as opaque bytes.
    case `private`(chain: [UInt8])

    /// The bytes of memory that it adds to a key.
    var memoryBytes: Int {
        switch self {
        case .public: 0
        case .private(let chain): chain.capacity + 32
        }
    }
}
