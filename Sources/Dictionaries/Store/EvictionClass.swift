/// What goes first when there is not room for every version: the one place that says so.
///
/// The classes go in this order; within one, what was wanted the longest ago, then what was admitted first.
enum EvictionClass: Int, CaseIterable, Comparable, Sendable {
    /// Any version of a chain that nobody has asked for again.
    case probation
    /// A version of an established chain that is not its newest.
    case past
    /// The newest version of an established chain.
    case newest

    static func < (one: EvictionClass, other: EvictionClass) -> Bool { one.rawValue < other.rawValue }
}
