package import Dictionaries

package struct DictionaryPolicy: Sendable {
    /// The URLs that a response is a dictionary for.
    package var covers = Covers.path
    package var coversText = "path"
    package var methods = RoutePolicy.Defaults.methods
    package var keyMembers: [String] = []
    package var maxAge = 30 * 86_400_000
    package var maxBody = RoutePolicy.Defaults.bodyBytesMax
    package var matchDest: [String] = []
    package var ttl: Int?
    package var cacheControl: String?
    package var delivery = Delivery.auto
    package var linkMaxAge = 86_400_000
    package var ownMaxAge = 86_400_000
    package var scope = RoutePolicy.Scope.public
    package var identity: [IdentityItem] = []
    package var personal: RoutePolicy.PersonalUse?
    package var storeDespite: [StoreDespite] = []
    package var privateVersions = 1
    package var cookiesIgnored = false
    package var ignoreSetCookie = IgnoredCookies.ofBalancers
    package var sharedCaches = SharedCaches.avoid

    package var builtSource: BuiltDictionary.Source?
    package var built: BuiltDictionary?
    package var revalidate = false

    package enum Delivery: String, Sendable, CaseIterable {
        /// In-band or by Link, as the response's freshness allows.
        case auto
        /// The response itself is the dictionary.
        case inBand = "in_band"
        /// A Link names a version that has its own URL.
        case link
    }

    /// A directive of the upstream that the operator overrides.
    package enum StoreDespite: Sendable, Equatable {
        case noStore
    }

    /// The URLs that a personal response covers without `identity`: only its own path, since the id binds it to that.
    var personalCovers: Covers {
        switch covers {
        case .path, .operation: covers
        case .url, .pattern, .template: .url
        }
    }

    var key: OperationKey { OperationKey(keyMembers) }

    // The times in seconds, as fields and the store have them.
    package var maxAgeSeconds: Int { maxAge / 1000 }
    var ttlSeconds: Int? { ttl.map { $0 / 1000 } }
    var linkLifeSeconds: Int { linkMaxAge / 1000 }
    var ownLifeSeconds: Int { ownMaxAge / 1000 }

    package enum SharedCaches: Sendable, Equatable {
        case avoid, trust
    }
}

extension Settings {
    static let dictionary: [Setting<DictionaryPolicy>] = [
        .value(
            "covers", \.coversText, .covers,
            """
            The URLs that a response is a dictionary for. path: its path with any query; url: its path and query; pattern: \
            everything that the same pattern of match matches; or a template that names groups of the match, such as /app/<name>.*.js.
            """),
        .value(
            "methods", \.methods,
            .list(.choice(["GET": .get, "QUERY": .query, "POST": .post]), 1...3).once("method"),
            """
            The methods whose responses become dictionaries. Those to QUERY and POST do so only with an explicit lifetime in \
            their fields or in cache_control. The upstream gets every such request.
            """),
        .value(
            "key", \.keyMembers, .operationKey, example: "[operationName]",
            """
            What names the operations of one URL, so that each is compared with its own former responses: members of a JSON \
            body of at most 64 KiB, with dots for members of members, such as extensions.persistedQuery.sha256Hash, and names \
            of the query. Browsers tell operations apart by the query only.
            """),
        .value(
            "max_age", \.maxAge, .duration(1_000...3_650 * day),
            "The time to keep a version after it was last wanted."),
        .value(
            "max_body", \.maxBody, .size(1...DictionaryFit.dictionaryBytesMax),
            "Larger responses never become dictionaries."),
        .value(
            "ttl", \.ttl, .optional(.duration(1_000...3_650 * day)), example: "7d",
            """
            Sends the ttl member, for clients of your own. Browsers ignore it and go by the freshness of the response.
            """),
        .value(
            "cache_control", \.cacheControl, .optional(.cacheControl),
            example: "\"public, max-age=60, stale-while-revalidate=86400\"",
            """
            Replaces the upstream's Cache-Control, Expires and Pragma on 200 and 304 responses to GET, HEAD and the methods of \
            the route. It never applies to responses with no-transform. It applies to responses that set a cookie, or that are \
            personal (also if must-revalidate or immutable says otherwise), only if it contains private, and to those with \
            no-store only if store_despite permits that, too.
            """),
        .value(
            "match_dest", \.matchDest, .list(.destination, 0...32), example: "[script, style]",
            "The request destinations that the dictionary is for. An empty list: all."),
        .value(
            "delivery", \.delivery,
            .choice(DictionaryPolicy.Delivery.allCases.map { (key: $0.rawValue, value: $0) }),
            """
            in_band: the response itself is the dictionary; link: it names one to fetch; auto: in_band, but a Link on \
            documents that clients would drop within a minute. A Link names only public bodies: the response has public or \
            s-maxage (or cache_control here does), and three client addresses got the same body. Until then, delivery is \
            in_band.
            """),
        .value(
            "built", \.builtSource, .builtSource, example: "/etc/dictum/items.dict",
            """
            A file of dictum train, as the dictionary of clients that have no version of a path: it is for everything that \
            the route's match matches, and yields to a path's own version. Pages announce it with a path of this route in \
            announce, or by themselves. Everybody can read it. A reload reads it again; clients that have the former one \
            still get deltas. learned: Dictum makes it by itself, for each host, of bodies that are proven to be public, once \
            first responses cost enough.
            """),
        .value(
            "link_max_age", \.linkMaxAge, .duration(minute...365 * day),
            """
            The maximum time for which Links name the same version, and for which it may be cached. It is kept twice as long. \
            It is replaced earlier if deltas over a fresh version would save more than its download costs.
            """),
        .value(
            "own_max_age", \.ownMaxAge, .duration(minute...365 * day),
            """
            The life of the responses of PATH?dictum-own, which pages fetch to keep a dictionary although the responses of \
            PATH itself are not kept.
            """),
        .value(
            "scope", \.scope, .choice(["public": .public, "private": .private]),
            "private: each dictionary belongs to one user and is used only for responses to that user."),
        .value(
            "identity", \.identity, .identity, example: "[authorization]",
            """
            What identifies a user on a private route, besides the dictionary's id: the same as for the upstream. Every item \
            must be present exactly once. Requests with another Authorization or cookie get no dictionary, unless cookies are \
            ignored. response:NAME is a field of the upstream's response, which clients do not get.
            """),
        .value(
            "personal", \.personal, .optional(.choice(["capability": .capability, "off": .off])),
            example: "off", "Overrides the top-level setting personal for this route."),
        .value(
            "store_despite", \.storeDespite, .list(.choice(["no-store": .noStore]), 0...1),
            example: "[no-store]",
            """
            no-store: responses with no-store become dictionaries too, in the way of personal ones. For frameworks that add it \
            to everything. Use it only for routes whose bodies may be kept, encrypted on this disk and in the client's cache.
            """),
        .value(
            "private_versions", \.privateVersions, .count(1...1_000),
            "The maximum number of versions per chain of a private route."),
        .value(
            "cookies", \.cookiesIgnored, .choice(["personal": false, "ignore": true]),
            "ignore: request cookies do not make responses of this route personal."),
        .value(
            "ignore_set_cookie", \.ignoreSetCookie, .list(.cookieName, 0...64),
            "Names of cookies whose Set-Cookie does not prevent admission, such as those of a load balancer."),
        .value(
            "shared_caches", \.sharedCaches, .choice(["avoid": .avoid, "trust": .trust]),
            "avoid: tells caches in between not to store dictionary-coded responses."),
        .value(
            "revalidate", \.revalidate, .flag,
            """
            Asks the upstream with If-None-Match whether the last response is still valid, and sends that one on a 304. Only \
            for requests with the fields that every client sends, and for responses that are not personal and have a strong \
            ETag of the upstream.
            """),
    ]
}

extension SettingType where Value == [String] {
    fileprivate static let operationKey = SettingType.list(
        .word(
            "a member such as operationName or extensions.persistedQuery.sha256Hash",
            accepts: { OperationKey.path(of: $0) != nil }), 0...OperationKey.membersMax
    ).once("member")
}
