/// The Sec-Fetch-Mode request field, as far as the cross-origin rule tells its values apart.
package enum SecFetchMode: Equatable, Sendable {
    /// `navigate`.
    case navigate
    /// `same-origin`.
    case sameOrigin
    /// `cors`.
    case cors
    /// `no-cors`, and whatever else is sent.
    case other

    /// Reads the field's value, which counts as written.
    package init(_ value: String) {
        switch value {
        case "navigate": self = .navigate
        case "same-origin": self = .sameOrigin
        case "cors": self = .cors
        default: self = .other
        }
    }
}
