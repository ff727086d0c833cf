/// The clients that may get a delta or use an index.
///
/// It is a part of every key, so that nothing made for one scope is found in another.
package enum DeltaScope: Hashable, Sendable {
    /// The public chains of all authorities: the digests name the bytes, and any client may have them.
    case `public`
    /// The chains whose versions have an id: a client that gets such a delta has proved that it holds the
    /// dictionary.
    case unlisted
    /// One private chain, by its name as opaque bytes.
    case `private`(chain: [UInt8])

    /// The bytes of memory that the scope adds to a key.
    var memoryBytes: Int {
        switch self {
        case .public, .unlisted: 0
        case .private(let chain): chain.capacity + 32
        }
    }
}
