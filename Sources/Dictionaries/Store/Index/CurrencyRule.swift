/// Which versions are current, by the routes of today.
///
/// Not the bare closure: a generic value that is handed out `inout` has a closure wrapped anew each time, layer upon
/// layer, so that after 10,000 admissions each further one would go through 20,000 calls.
struct CurrencyRule: Sendable {
    let isCurrent: @Sendable (Version) -> Bool
    /// One more than that of the rule before.
    var number = 0
}
