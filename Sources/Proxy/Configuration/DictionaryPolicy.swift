package import Dictionaries

/// The use of dictionaries on a route.
package struct DictionaryPolicy: Sendable {
    /// The URLs that a response is a dictionary for.
    package var covers = Covers.path
    /// The text of `covers`.
    package var coversText = "path"
    /// The maximum number of versions in a chain.
    package var versions = 1_000_000
    /// The time to keep a version after it was last wanted, in milliseconds.
    package var maxAge = 30 * 86_400_000
    /// The maximum size of a response that becomes a dictionary, in bytes.
    package var maxBody = 8 << 20
    /// The request destinations that the dictionary is for (RFC 9842 section 2.1.2); empty for all.
    package var matchDest: [String] = []
    /// The `ttl` member, in milliseconds; nil to send none.
    package var ttl: Int?
    /// The Cache-Control to send in place of the upstream's.
    package var cacheControl: String?
    /// The way clients obtain the dictionary.
    package var delivery = Delivery.auto
    /// The time for which Links name the same version, in milliseconds.
    package var linkMaxAge = 86_400_000
    /// Public or private dictionaries.
    package var scope = RoutePolicy.Scope.public
    /// The request properties that identify a user, on a private route.
    package var identity: [IdentityItem] = []
    /// The use of personal responses; nil for the configuration's default.
    package var personal: RoutePolicy.PersonalUse?
    /// The response directives that do not prevent admission.
    package var storeDespite: [StoreDespite] = []
    /// The maximum number of versions in a private chain.
    package var privateVersions = 1
    /// True if cookies of requests do not make responses personal.
    package var cookiesIgnored = false
    /// The names of cookies whose Set-Cookie does not prevent admission.
    package var ignoreSetCookie = IgnoredCookies.ofBalancers
    /// Permits or forbids shared caches to store dictionary-coded responses.
    package var sharedCaches = SharedCaches.avoid

    /// True if the upstream is asked to revalidate the stored response.
    package var revalidate = false

    /// Makes the defaults of a configured route.
    package init() {}

    /// A way to obtain the dictionary.
    package enum Delivery: Sendable, Equatable {
        /// In-band or by Link, as the response's freshness allows.
        case auto
        /// The response itself is the dictionary.
        case inBand
        /// A Link names a version that has its own URL.
        case link
    }

    /// A directive of the upstream that the operator overrides.
    package enum StoreDespite: Sendable, Equatable {
        case noStore
    }

    /// The URLs that a personal response covers without `identity`: only its own path, since the id binds it to
    /// that.
    var personalCovers: Covers {
        if case .path = covers { .path } else { .url }
    }

    var ttlSeconds: Int? { ttl.map { $0 / 1000 } }

    /// The treatment of shared caches.
    package enum SharedCaches: Sendable, Equatable {
        case avoid, trust
    }
}
