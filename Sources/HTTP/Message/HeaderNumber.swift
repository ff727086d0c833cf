/// The numbers of the well-known names, in the order of `HeaderNameTable.names`.
///
/// A constant that is made from its number needs no look-up, and so no check at each use that the table is
/// initialised.
enum HeaderNumber: UInt8, CaseIterable {
    case accept = 1, acceptCharset, acceptEncoding, acceptLanguage, acceptRanges,
        accessControlAllowCredentials, accessControlAllowHeaders, accessControlAllowMethods,
        accessControlAllowOrigin, accessControlExposeHeaders, accessControlMaxAge,
        accessControlRequestHeaders, accessControlRequestMethod, age, allow, altSvc, authorization,
        availableDictionary, cdnCacheControl, cacheControl, connection, contentDigest, contentDisposition,
        contentEncoding, contentLanguage, contentLength, contentLocation, contentMD5, contentRange,
        contentSecurityPolicy, contentType, cookie, crossOriginResourcePolicy, dnt, date, dictionaryID,
        dictumExplain, digest, etag, earlyData, expect, expires, forwarded, from, http2Settings, host,
        ifMatch, ifModifiedSince, ifNoneMatch, ifRange, ifUnmodifiedSince, keepAlive, lastModified, link,
        location, maxForwards, nel, origin, pragma, priority, proxyAuthenticate, proxyAuthorization,
        proxyConnection, range, referer, referrerPolicy, reportTo, reprDigest, retryAfter, secCHUA,
        secCHUAMobile, secCHUAPlatform, secFetchDest, secFetchMode, secFetchSite, secFetchUser, server,
        serverTiming, setCookie, strictTransportSecurity, surrogateControl, te, timingAllowOrigin,
        traceparent, tracestate, trailer, transferEncoding, upgrade, upgradeInsecureRequests,
        useAsDictionary, userAgent, vary, via, wwwAuthenticate, warning, xCache, xContentTypeOptions,
        xForwardedFor, xForwardedHost, xForwardedPort, xForwardedProto, xFrameOptions, xPoweredBy, xRealIP,
        xRequestID, xRequestedWith, xXSSProtection
}
