/// The name of a delta: body, dictionary, coding and scope.
///
/// The parameters of the coding need no place here: they follow from these, and a delta made with stronger ones
/// replaces the former.
package struct DeltaKey: Hashable, Sendable {
    package let body: Digest
    package let dictionary: Digest
    package let coding: ContentCoding
    package let scope: DeltaScope

    package init(body: Digest, dictionary: Digest, coding: ContentCoding, scope: DeltaScope) {
        self.body = body
        self.dictionary = dictionary
        self.coding = coding
        self.scope = scope
    }
}

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
