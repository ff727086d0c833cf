/// What became of the digest that a client offers.
package enum DictionaryFound: Equatable, Sendable {
    /// The request offers none.
    case noneOffered
    /// No dictionary of that digest may be used for this request.
    case unknown
    /// It is known, but its bytes are not in memory.
    case cold
    /// It is ready.
    case found(bytes: Int, startsWithZstdMagic: Bool)
}
