/// An event that an operator should know, in a sentence that says what to do.
package enum StoreEvent: Sendable, Equatable {
    case info(String)
    case warning(String)
    case error(String)
}
