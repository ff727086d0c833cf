/// By what a version was wanted.
package enum Demand: Sendable {
    /// A client advertised it (`Available-Dictionary`).
    case advertised
    /// It is what the upstream answers now, or was offered with a 304.
    case answered
}
