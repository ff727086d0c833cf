/// A rule of a parser that an input has broken.
package struct BrokenRule: Error, CustomStringConvertible, Sendable {
    package let description: String

    init(_ rule: StaticString) { description = "broken: \(rule)" }
}

/// Throws the rule unless it holds.
func require(_ isTrue: Bool, _ rule: StaticString) throws(BrokenRule) {
    guard isTrue else { throw BrokenRule(rule) }
}
