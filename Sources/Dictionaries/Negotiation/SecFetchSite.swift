/// The Sec-Fetch-Site request field, with the values that the cross-origin rules distinguish.
package enum SecFetchSite: Equatable, Sendable {
    /// `same-origin`.
    case sameOrigin
    /// `none`: the user made the request, not a page.
    case none
    /// `same-site`, `cross-site`, and any other value.
    case other

    /// Reads the value of the field, which is case-sensitive.
    package init(_ value: String) {
        switch value {
        case "same-origin": self = .sameOrigin
        case "none": self = .none
        default: self = .other
        }
    }
}
