/// A parser of untrusted input to fuzz, with the rules that hold for every input.
package enum FuzzTarget: String, CaseIterable, Sendable {
    case requestHead = "request-head"
    case responseHead = "response-head"
    case chunked
    case proxyHeader = "proxy-header"
    case fields
    case pattern
    case configuration
    case http2
    case resp
    case members

    /// Tries one input; throws the first rule that it breaks.
    package func check(_ bytes: [UInt8]) throws(BrokenRule) {
        switch self {
        case .requestHead: try HeadRules.checkRequest(bytes)
        case .responseHead: try HeadRules.checkResponse(bytes)
        case .chunked: try ChunkedRules.check(bytes)
        case .proxyHeader: try ProxyHeaderRules.check(bytes)
        case .fields: try FieldRules.check(bytes)
        case .pattern: try PatternRules.check(bytes)
        case .configuration: try ConfigurationRules.check(bytes)
        case .http2: try HTTP2Rules.check(bytes)
        case .resp: try RESPRules.check(bytes)
        case .members: try MemberRules.check(bytes)
        }
    }
}
