/// The cross-origin rule of RFC 9842 section 9.3.3.
package enum CrossOrigin {
    /// Returns true if the response may be coded over a dictionary, and may become one: the same rule holds for
    /// both.
    package static func allowsDictionary(request: RequestFacts, response: ResponseFacts) -> Bool {
        guard let site = request.secFetchSite, site != .sameOrigin, let mode = request.secFetchMode else {
            return true
        }
        switch mode {
        case .navigate, .sameOrigin: return true
        case .cors:
            guard let allowed = response.accessControlAllowOrigin, let origin = request.origin else {
                return false
            }
            return allowed == "*" || allowed == origin
        case .other: return false
        }
    }

    /// Returns true if a dictionary of one user, on a private route or a personal one elsewhere, may be used or offered: only if
    /// the page is of the same origin.
    package static func allowsDictionaryOfOneUser(request: RequestFacts) -> Bool {
        switch request.secFetchSite {
        case nil, .sameOrigin?, .some(.none): true
        case .other?: false
        }
    }
}

/// The Sec-Fetch-Site request field, with the values that the cross-origin rules distinguish.
package enum SecFetchSite: String, Sendable {
    case sameOrigin = "same-origin"
    /// The user made the request, not a page.
    case none
    /// `same-site`, `cross-site`, and any other value.
    case other

    /// Reads the value of the field, which is case-sensitive.
    package init(_ value: String) { self = Self(rawValue: value) ?? .other }
}

/// The Sec-Fetch-Mode request field, with the values that the cross-origin rule distinguishes.
package enum SecFetchMode: String, Sendable {
    case navigate
    case sameOrigin = "same-origin"
    case cors
    /// `no-cors`, and any other value.
    case other

    /// Reads the value of the field, which is case-sensitive.
    package init(_ value: String) { self = Self(rawValue: value) ?? .other }
}
