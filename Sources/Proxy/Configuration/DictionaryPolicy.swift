package import Dictionaries

/// How a route uses dictionaries.
package struct DictionaryPolicy: Sendable {
    /// What an answer is a dictionary for.
    package var covers = Covers.path
    /// The same as it was written.
    package var coversText = "path"
    /// How many past answers a chain keeps.
    package var versions = 1_000_000
    /// How long a version is kept after it was last wanted, in milliseconds.
    package var maxAge = 30 * 86_400_000
    /// The largest answer that becomes a dictionary, in bytes.
    package var maxBody = 8 << 20
    /// The destinations that the dictionary is for (RFC 9842 section 2.1.2).
    package var matchDest: [String] = []
    /// How long a client is told to keep its dictionary whatever the answer's freshness, in milliseconds.
    package var ttl: Int?
    /// The Cache-Control that is sent in place of the upstream's.
    package var cacheControl: String?
    /// How the client comes by the dictionary.
    package var delivery = Delivery.auto
    /// How long a Link names the same version, in milliseconds.
    package var linkMaxAge = 86_400_000
    /// Whose dictionaries the route has.
    package var scope = RoutePolicy.Scope.public
    /// What tells one user from another, on a private route.
    package var identity: [IdentityItem] = []
    /// What becomes of personal responses; nil: as the configuration says for all routes.
    package var personal: RoutePolicy.PersonalUse?
    /// What a response may say and become a version all the same.
    package var storeDespite: [StoreDespite] = []
    /// How many past answers a chain of a private route keeps.
    package var privateVersions = 1
    /// Whether the request's cookies do not personalise the answer.
    package var cookiesIgnored = false
    /// The names of cookies whose Set-Cookie does not bar admission.
    package var ignoreSetCookie = IgnoredCookies.ofBalancers
    /// Whether caches on the way may store dictionary-coded answers.
    package var sharedCaches = SharedCaches.avoid

    /// Whether the upstream is asked if the stored answer still holds, instead of for a whole one.
    package var revalidate = false

    /// The defaults of a route that is written.
    package init() {}

    /// How the client comes by the dictionary.
    package enum Delivery: Sendable, Equatable {
        /// By what the answer's freshness allows.
        case auto
        /// The answer itself is the dictionary.
        case inBand
        /// A Link names a version that has a URL of its own.
        case link
    }

    /// A directive of the upstream's that the operator overrules.
    package enum StoreDespite: Sendable, Equatable {
        /// `no-store`.
        case noStore
    }

    /// What a personal response covers, on a route without identity: nobody carries it to another path.
    var personalCovers: Covers {
        if case .path = covers { .path } else { .url }
    }

    /// The `ttl` member, in seconds.
    var ttlSeconds: Int? { ttl.map { $0 / 1000 } }

    /// Whether caches on the way may store dictionary-coded answers.
    package enum SharedCaches: Sendable, Equatable {
        case avoid, trust
    }
}
