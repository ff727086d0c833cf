/// What is fuzzed: each parser that reads what strangers write, with the rules that hold for every input.
///
/// A rule that is broken stops the process, which is how a fuzzer learns of it.
package enum FuzzTarget: String, CaseIterable, Sendable {
    case requestHead = "request-head"
    case responseHead = "response-head"
    case chunked
    case proxyHeader = "proxy-header"
    case fields
    case pattern
    case configuration

    /// Tries one input.
    package func check(_ bytes: [UInt8]) {
        switch self {
        case .requestHead: HeadRules.checkRequest(bytes)
        case .responseHead: HeadRules.checkResponse(bytes)
        case .chunked: ChunkedRules.check(bytes)
        case .proxyHeader: ProxyHeaderRules.check(bytes)
        case .fields: FieldRules.check(bytes)
        case .pattern: PatternRules.check(bytes)
        case .configuration: ConfigurationRules.check(bytes)
        }
    }
}

/// Stops the process where a rule is broken, in release builds too.
func require(_ isTrue: Bool, _ rule: StaticString) {
    precondition(isTrue, "broken: \(rule)")
}
