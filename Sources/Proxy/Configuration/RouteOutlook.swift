internal import Dictionaries

/// The effect of a route's settings on clients, as far as it is known in advance.
struct RouteOutlook: Sendable {
    /// The delivery in effect.
    let delivery: String
    let scope: String
    /// The time for which clients may use a dictionary.
    let life: String
    /// The behaviour of Chromium, as far as the settings determine it.
    let browsers: String

    init(_ policy: DictionaryPolicy) {
        delivery = Self.delivery(policy)
        scope = policy.scope == .private ? "private" : "public"
        life = Self.life(policy)
        browsers = Self.browsers(policy)
    }

    private static func delivery(_ policy: DictionaryPolicy) -> String {
        // Links never name private chains.
        guard policy.scope == .public else { return "in_band" }
        return switch policy.delivery {
        case .auto: "auto"
        case .inBand: "in_band"
        case .link: "link"
        }
    }

    private static func life(_ policy: DictionaryPolicy) -> String {
        let days = Quantity.duration
        if policy.scope == .public, policy.delivery == .link {
            return "\(days.text(of: policy.linkMaxAge)) (link_max_age)"
        }
        if let value = policy.cacheControl {
            return "\(usableSeconds(value)) s (cache_control: \"\(value)\")"
        }
        return "as long as the upstream's response is fresh"
    }

    private static func browsers(_ policy: DictionaryPolicy) -> String {
        if policy.scope == .public, policy.delivery == .link {
            return "follow Links of documents only: fetch() gets no delta"
        }
        guard let value = policy.cacheControl else {
            return """
                keep no response with no-store, no-cache, max-age=0 or without a lifetime; for such responses, announce the \
                path on its page, or set cache_control (README, "Deltas for fetch()")
                """
        }
        guard usableSeconds(value) > 0 else {
            return "keep nothing: cache_control gives responses no lifetime"
        }
        return """
            keep each response for that time; fetch(url, {cache: "no-cache"}) then gets a delta, while a plain fetch() \
            reads the browser's own cache
            """
    }

    private static func usableSeconds(_ value: String) -> Int64 {
        let freshness = Freshness(cacheControl: CacheControl([value]), receivedAt: 0)
        return max(0, freshness.remainingSeconds(at: 0))
    }
}
