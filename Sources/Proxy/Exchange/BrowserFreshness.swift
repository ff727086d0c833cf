package import Dictionaries
package import HTTP

/// The time for which browsers use a response as a dictionary.
///
/// It is that of RFC 9111 with the differences of Chromium: `Pragma: no-cache` counts beside Cache-Control, and
/// `must-revalidate` rules out the heuristic. Tests check each difference against a real browser. The `ttl` of an offer
/// does not count, since Chromium has it behind a flag.
package struct BrowserFreshness {
    private let headers: Headers
    private let receivedAt: Int64
    private let cacheControl: CacheControl
    private let allowsHeuristic: Bool

    /// Reads the fields of a 200 response that was received at a time in seconds since 1970.
    ///
    /// - Parameter hasHeuristic: False for responses to QUERY and POST.
    package init(
        _ headers: borrowing Headers, _ cacheControl: CacheControl, hasHeuristic: Bool = true,
        receivedAt: Int64
    ) {
        self.headers = copy headers
        self.receivedAt = receivedAt
        var cacheControl = cacheControl
        if headers.containsToken(.pragma, "no-cache") { cacheControl.noCache = true }
        self.cacheControl = cacheControl
        allowsHeuristic = hasHeuristic && !cacheControl.mustRevalidate
    }

    /// The seconds from when the response came; 0 or less if it cannot be a dictionary.
    package var remainingSeconds: Int64 {
        Freshness(
            cacheControl: cacheControl, age: headers.values(.age), date: headers.values(.date),
            expires: headers.values(.expires),
            lastModified: allowsHeuristic ? headers.values(.lastModified) : [], receivedAt: receivedAt
        ).remainingSeconds(at: receivedAt)
    }

    /// The reason why browsers do not keep the response; nil if they do.
    package var obstacle: UnkeptReason? {
        if cacheControl.noStore { return .noStore }
        if headers.containsToken(.vary, "*") { return .varyAny }
        if cacheControl.noCache { return .noCache }
        let hasLife =
            cacheControl.maxAge != nil || cacheControl.staleWhileRevalidate != nil
            || headers.contains(.expires) || allowsHeuristic && headers.contains(.lastModified)
        if hasLife { return remainingSeconds > 0 ? nil : .expired }
        if cacheControl.sMaxAge != nil { return .sharedOnly }
        return headers.contains(.etag) ? .etagOnly : .noLifetime
    }
}
