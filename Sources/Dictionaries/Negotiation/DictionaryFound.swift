/// The result of looking up the digest that a client advertises.
package enum DictionaryFound: Equatable, Sendable {
    /// The request advertises none.
    case noneOffered
    /// No dictionary with that digest may be used for this request.
    case unknown
    /// The dictionary is known, but its bytes are not in memory.
    case cold
    /// The dictionary is ready.
    case found(bytes: Int, startsWithZstdMagic: Bool)
}
