/// The Sec-Fetch-Mode request field, with the values that the cross-origin rule distinguishes.
package enum SecFetchMode: Equatable, Sendable {
    /// `navigate`.
    case navigate
    /// `same-origin`.
    case sameOrigin
    /// `cors`.
    case cors
    /// `no-cors`, and any other value.
    case other

    /// Reads the value of the field, which is case-sensitive.
    package init(_ value: String) {
        switch value {
        case "navigate": self = .navigate
        case "same-origin": self = .sameOrigin
        case "cors": self = .cors
        default: self = .other
        }
    }
}
