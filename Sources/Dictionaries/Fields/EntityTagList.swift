/// The value of an If-Match or If-None-Match field (RFC 9110 sections 13.1.1 and 13.1.2).
package enum EntityTagList: Equatable, Sendable {
    /// `*`: any current representation.
    case any
    /// The listed tags, in order.
    case tags([EntityTag])

    /// Returns true if the list contains the tag by the weak comparison, which If-None-Match requires.
    package func weakMatches(_ tag: EntityTag) -> Bool {
        switch self {
        case .any: true
        case .tags(let tags): tags.contains { $0.weakMatches(tag) }
        }
    }

    /// Returns true if the list contains the tag by the strong comparison, which If-Match requires.
    package func strongMatches(_ tag: EntityTag) -> Bool {
        switch self {
        case .any: true
        case .tags(let tags): tags.contains { $0.strongMatches(tag) }
        }
    }
}
