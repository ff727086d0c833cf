/// The Sec-Fetch-Site request field, as far as the cross-origin rules tell its values apart.
package enum SecFetchSite: Equatable, Sendable {
    /// `same-origin`.
    case sameOrigin
    /// `none`: the user asked for it, no page did.
    case none
    /// `same-site`, `cross-site`, and whatever else is sent.
    case other

    /// Reads the field's value, which counts as written.
    package init(_ value: String) {
        switch value {
        case "same-origin": self = .sameOrigin
        case "none": self = .none
        default: self = .other
        }
    }
}
