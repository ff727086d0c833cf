extension HeaderName {
    /// True if a trailer section must not hold this field.
    ///
    /// Such fields frame, route, authenticate or describe the content (RFC 9110 section 6.5.1), or must be
    /// known before the body.
    var isForbiddenInTrailers: Bool {
        Self.forbiddenInTrailers.contains(self) || text.lowercased().hasPrefix("content-")
    }

    private static let forbiddenInTrailers: Set<HeaderName> = [
        .acceptEncoding, .age, .authorization, .availableDictionary, .cacheControl, .cdnCacheControl,
        .connection, .cookie, .date, .dictionaryID, .etag, .expect, .expires, .forwarded, .host, .ifMatch,
        .ifModifiedSince, .ifNoneMatch, .ifRange, .ifUnmodifiedSince, .keepAlive, .lastModified, .link,
        .location, .maxForwards, .origin, .pragma, .proxyAuthenticate, .proxyAuthorization,
        .proxyConnection, .range, .retryAfter, .secFetchDest, .secFetchMode, .secFetchSite, .setCookie,
        .surrogateControl, .te, .trailer, .transferEncoding, .upgrade, .useAsDictionary, .vary, .via,
        .wwwAuthenticate, .xForwardedFor, .xForwardedHost, .xForwardedProto, .xRealIP,
    ]
}
