/// Who may get a delta or use an index: part of every key here, so that nothing made for one is found by another.
package enum DeltaScope: Hashable, Sendable {
    /// The public chains of all authorities: the digests name the bytes, and anyone may have them.
    case `public`
    /// The chains whose versions have an id: whoever gets such a delta has proved to hold the dictionary.
    case unlisted
    /// One private chain, by its name as opaque bytes.
    case `private`(chain: [UInt8])

    /// The bytes of memory that it adds to a key.
    var memoryBytes: Int {
        switch self {
        case .public, .unlisted: 0
        case .private(let chain): chain.capacity + 32
        }
    }
}
