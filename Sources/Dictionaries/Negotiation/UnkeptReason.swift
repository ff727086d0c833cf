/// The reason why no browser keeps a response as a dictionary although the response offers itself: the closed list
/// of log and metrics.
///
/// The rules are those observed in Chromium, which keeps a response that is fresh, or stale but usable, when it
/// arrives.
package enum UnkeptReason: String, CaseIterable, Sendable {
    /// `no-store`.
    case noStore = "no-store"
    /// `no-cache`.
    case noCache = "no-cache"
    /// `Vary: *`.
    case varyAny = "vary-any"
    /// Its life is over when it arrives: `max-age=0` without `stale-while-revalidate`, or an Expires or Age that
    /// says so.
    case expired
    /// Only `s-maxage` gives it a life, and only in shared caches.
    case sharedOnly = "s-maxage-only"
    /// It has an ETag, which only validates, and no lifetime.
    case etagOnly = "etag-only"
    /// It has no lifetime: neither in Cache-Control nor Expires nor Last-Modified.
    case noLifetime = "no-lifetime"

    /// The fields of a response that affect its life, besides the directives.
    package struct Fields: Sendable {
        /// True if it has ETag.
        package var hasETag = false
        /// True if it has Expires.
        package var hasExpires = false
        /// True if it has Last-Modified.
        package var hasLastModified = false
        /// True if it has `Vary: *`.
        package var variesByAnything = false

        package init() {}
    }

    /// Returns the reason, or nil if a browser keeps the response.
    ///
    /// `remainingSeconds`, called only if a field gives the response a life, returns the rest of that life at its
    /// arrival. The `ttl` member of an offer does not count: browsers ignore it.
    package static func find(
        _ cacheControl: CacheControl, _ fields: Fields, remainingSeconds: () -> Int64
    ) -> UnkeptReason? {
        if cacheControl.noStore { return .noStore }
        if fields.variesByAnything { return .varyAny }
        if cacheControl.noCache { return .noCache }
        let hasLife =
            cacheControl.maxAge != nil || cacheControl.staleWhileRevalidate != nil || fields.hasExpires
            || fields.hasLastModified
        if hasLife { return remainingSeconds() > 0 ? nil : .expired }
        if cacheControl.sMaxAge != nil { return .sharedOnly }
        return fields.hasETag ? .etagOnly : .noLifetime
    }
}
