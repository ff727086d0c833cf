/// Why no browser keeps an answer as a dictionary, though it offers itself: the closed list of log and metrics.
///
/// By what Chromium was seen to do, which keeps an answer that is fresh, or stale but usable, when it comes.
package enum UnkeptReason: String, CaseIterable, Sendable {
    /// `no-store`.
    case noStore = "no-store"
    /// `no-cache`.
    case noCache = "no-cache"
    /// `Vary: *`.
    case varyAny = "vary-any"
    /// Its life is over when it comes: `max-age=0` without `stale-while-revalidate`, an Expires or Age that says so.
    case expired
    /// `s-maxage` is all that gives it a life, and that is for shared caches.
    case sharedOnly = "s-maxage-only"
    /// Nothing gives it a life but an ETag, which only validates.
    case etagOnly = "etag-only"
    /// Nothing gives it a life: no Cache-Control that does, no Expires, no Last-Modified.
    case noLifetime = "no-lifetime"

    /// What the fields of an answer say of its life, besides the directives.
    package struct Fields: Sendable {
        /// Whether it has ETag.
        package var hasETag = false
        /// Whether it has Expires.
        package var hasExpires = false
        /// Whether it has Last-Modified.
        package var hasLastModified = false
        /// Whether it has `Vary: *`.
        package var variesByAnything = false

        /// None of them.
        package init() {}
    }

    /// Returns the reason, or nil if a browser keeps the response.
    ///
    /// `remainingSeconds`, asked for only where something gives the response a life, is what is left of that when it comes. The
    /// `ttl` member of an offer does not count: browsers ignore it.
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
