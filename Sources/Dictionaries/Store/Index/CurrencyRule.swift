/// The rule that says which versions are current under the present routes.
///
/// It is not the bare closure: a generic value that is handed out `inout` wraps a closure again each time.
/// After 10,000 admissions, the next would go through 20,000 calls.
struct CurrencyRule: Sendable {
    let isCurrent: @Sendable (Version) -> Bool
    /// The number of the rule; each new rule gets the next one.
    var number = 0
}
