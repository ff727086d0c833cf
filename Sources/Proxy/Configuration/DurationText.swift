/// Parses durations in the form of the configuration.
package enum DurationText {
    /// Returns the whole seconds of a text such as `90s` or `7d`; nil if it is invalid.
    package static func seconds(_ text: String) -> Int? {
        Quantity.duration.value(of: text, in: 0...Int.max).map { $0 / 1000 }
    }
}
