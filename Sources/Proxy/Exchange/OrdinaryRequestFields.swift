internal import HTTP
internal import Primitives

/// The closed list of request fields that every anonymous client may send.
///
/// As far as `Vary` and the URL tell, everybody gets the response to a request without any other field: it may be kept for
/// revalidation, and it counts as a proof that a body is public. So the list has no field whose value names a person, a
/// host, a path or a representation that `Vary` is known to omit. Values that an upstream might write into a page are
/// checked if their syntax allows it; `User-Agent`, `Accept` and `Accept-Language` cannot be, since every browser sends
/// its own.
enum OrdinaryRequestFields {
    /// Returns true if the request has no field outside the list.
    ///
    /// Fields of the `other` names, such as those of a Vary, may be there too. `isPeerTrusted` says that the peer is a proxy
    /// of the operator. The forwarding fields of any other peer never reach the upstream, so their values do not matter.
    static func areAll(in request: RequestHead, or other: [String] = [], isPeerTrusted: Bool) -> Bool {
        let headers = request.headers
        let allowed = (isPeerTrusted ? fromTrustedPeer : fromAnybody).adding(other)
        let authority = (headers.first(.host) ?? "").lowercased()
        return !headers.containsAny(outside: allowed)
            && hasOwnConnectionOptions(headers) && hasNoContent(headers) && hasWellFormedTrace(headers)
            && namesOwnPages(headers, authority) && (!isPeerTrusted || forwardsOwnHost(headers, authority))
    }

    private static let fromAnybody = common.adding(["Sec-Fetch-Storage-Access", "Sec-GPC", "Sec-Purpose"])

    private static let common: HeaderNameSet = [
        // Negotiation.
        .accept, .acceptEncoding, .acceptLanguage, .userAgent,
        // The connection; none of these reaches the upstream unchanged.
        .host, .connection, .keepAlive, .proxyConnection, .te, .priority, .contentLength,
        // Caches and conditions.
        .cacheControl, .pragma, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince,
        // Dictionaries; Dictum removes them.
        .availableDictionary, .dictionaryID,
        // The page that asks.
        .referer, .origin, .secFetchDest, .secFetchMode, .secFetchSite, .secFetchUser,
        // Browsers describe themselves, besides User-Agent.
        .dnt, .upgradeInsecureRequests, .secCHUA, .secCHUAMobile, .secCHUAPlatform, .traceparent,
        // Dictum replaces these, except those of trusted peers.
        .forwarded, .xForwardedFor, .xForwardedHost, .xForwardedProto,
    ]

    /// Fields that trusted proxies add are allowed too: clients cannot choose them.
    private static let fromTrustedPeer = fromAnybody.adding([.via, .xForwardedPort, .xRealIP, .xRequestID])
        .adding([
            "CDN-Loop", "CF-Connecting-IP", "CF-Ray", "CF-Visitor", "X-Amzn-Trace-Id",
            "X-Cloud-Trace-Context",
        ])

    /// Returns true if Connection names no field: such a field would not reach the upstream (RFC 9110 section 7.6.1).
    private static func hasOwnConnectionOptions(_ headers: borrowing Headers) -> Bool {
        var isOwn = true
        headers.forEachListMember(of: .connection) { member in
            let isKnown =
                member.equalsIgnoringCase("keep-alive") || member.equalsIgnoringCase("close")
                || member.equalsIgnoringCase("te")
            if !isKnown { isOwn = false }
        }
        return isOwn
    }

    /// Returns true if there is no content: some upstreams read the content of a GET as a query.
    private static func hasNoContent(_ headers: borrowing Headers) -> Bool {
        !headers.contains(.contentLength) || headers.firstEquals(.contentLength, "0")
    }

    /// Returns true if no trace can hold markup: some upstreams write it into their pages.
    private static func hasWellFormedTrace(_ headers: borrowing Headers) -> Bool {
        !headers.contains(.traceparent)
            || headers.first(.traceparent)?.utf8.count == 55 && RequestIdentifiers.traceID(in: headers) != nil
    }

    /// Returns true if the Referer is of this host or equals the Origin: some upstreams link back to it.
    private static func namesOwnPages(_ headers: borrowing Headers, _ authority: String) -> Bool {
        let referers = headers.values(.referer)
        guard let referer = referers.first else { return true }
        guard referers.count == 1, let scheme = ["https://", "http://"].first(where: referer.hasPrefix) else {
            return false
        }
        let named = referer.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        if named.lowercased() == authority { return true }
        guard let origin = headers.first(.origin) else { return false }
        return referer == origin || referer == origin + "/"
    }

    /// Returns true if forwarding fields name this host: many upstreams make URLs of them.
    private static func forwardsOwnHost(_ headers: borrowing Headers, _ authority: String) -> Bool {
        guard !headers.contains(.forwarded) else { return false }
        return headers.values(.xForwardedHost).allSatisfy { $0.lowercased() == authority }
            && headers.values(.xForwardedProto).allSatisfy { ["http", "https"].contains($0.lowercased()) }
            && headers.values(.xForwardedPort).allSatisfy { ["80", "443"].contains($0) }
    }
}
