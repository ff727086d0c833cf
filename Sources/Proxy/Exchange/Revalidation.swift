internal import Dictionaries
internal import HTTP
internal import Primitives

/// The rules for asking the upstream whether a stored answer still holds: pure functions.
///
/// Dictum is no cache: the upstream is asked every time, with If-None-Match alone, and a stored body goes out only
/// where a 304 names its strong entity tag.
enum Revalidation {
    // MARK: The request

    /// Whether a request may be answered with what another one was: nothing in it is personal, a part, a condition
    /// of the client's own, or a wish for a new answer.
    ///
    /// Its fields are looked at once a stored response is known: see `isOrdinary`.
    static func mayAsk(_ request: RequestHead, framing: BodyFraming, _ facts: RequestFacts) -> Bool {
        guard facts.method == .get, framing == .none || framing == .length(0), facts.isPathNormal,
            isNobodys(facts), !facts.noStore, !facts.noTransform
        else { return false }
        let headers = request.headers
        // A client that asks for itself hears what the upstream says to that.
        guard !headers.containsAny(of: ownQuestions) else { return false }
        // RFC 9111 section 5.4: Pragma counts where there is no Cache-Control.
        if headers.contains(.cacheControl) { return !CacheControl(headers.values(.cacheControl)).noCache }
        return !headers.containsToken(.pragma, "no-cache")
    }

    /// Whether what the upstream makes of a request is what it makes of any other with the same URL and variant.
    ///
    /// An upstream may put the value of a field into its page that its Vary does not name (`X-Host`), so that one request
    /// would write what the next client reads.
    static func isOrdinary(
        _ request: RequestHead, for response: Headers, varyingBy names: [String], isPeerTrusted: Bool
    ) -> Bool {
        OrdinaryRequestFields.areAll(in: request, or: names, isPeerTrusted: isPeerTrusted)
            && sharesOrigin(response, varyingBy: names, with: request)
    }

    private static let ownQuestions: HeaderNameSet = [
        .range, .ifRange, .ifNoneMatch, .ifMatch, .ifModifiedSince, .ifUnmodifiedSince, .upgrade,
    ]

    private static func isNobodys(_ facts: RequestFacts) -> Bool {
        !facts.hasAuthorization && !facts.hasCookie && !facts.hasClientCertificate
            && !facts.hasPersonalField && !facts.hasPersonalQuery
    }

    // MARK: The answer that is kept

    /// The head to keep of an answer that may become a version; nil where the upstream is not to be asked about it.
    ///
    /// RFC 9111 section 3: what no shared cache may store is no version either; what is left is a strong tag of the
    /// upstream's own, and that the same request brings the same answer. `isOrdinary` is of the request.
    static func kept(
        _ head: ResponseHead, _ response: ResponseFacts, for request: RequestFacts, isOrdinary: Bool,
        acceptEncoding: Configuration.Upstream.AcceptEncodingMode
    ) -> [UInt8]? {
        guard response.status == 200, response.coding == .none,
            strongTag(head.headers) != nil, !head.headers.contains(.trailer),
            !response.cacheControl.noStore, !response.cacheControl.isPrivate, isNobodys(request), isOrdinary,
            Set(response.varyNames).isDisjoint(with: ownFields),
            acceptEncoding == .identity || !response.varyNames.contains("accept-encoding")
        else { return nil }
        var bytes: [UInt8] = []
        var kept = ResponseHead(status: .ok, headers: head.headers)
        kept.headers.removeAll(ofOneAnswer)
        HeadWriter.write(kept, into: &bytes)
        return bytes.count <= StoredHead.bytesMax ? bytes : nil
    }

    /// The one strong tag of an answer.
    static func strongTag(_ headers: Headers) -> EntityTag? {
        guard headers.count(of: .etag) == 1, let tag = headers.first(.etag).flatMap(EntityTag.init),
            !tag.isWeak
        else { return nil }
        return tag
    }

    /// An answer made for the page of one origin is not for others, even where its Vary forgets to say so.
    ///
    /// Where a page of another origin asked and the response shares itself with none, it is a guess what the upstream made
    /// of that origin.
    private static func sharesOrigin(
        _ response: Headers, varyingBy names: [String], with request: RequestHead
    ) -> Bool {
        if names.contains("origin") { return true }
        guard let allowed = response.first(.accessControlAllowOrigin) else {
            return !request.headers.contains(.origin)
        }
        return allowed == "*"
    }

    /// What Dictum writes into requests itself, so that the client's fields do not tell what the upstream saw.
    private static let ownFields: Set<String> = [
        "expect", "forwarded", "if-none-match", "te", "via", "x-forwarded-for",
        "x-forwarded-host", "x-forwarded-proto",
    ]

    /// Fields that speak of one answer only, and those that are written anew.
    private static let ofOneAnswer: HeaderNameSet = {
        var names: HeaderNameSet = [
            .age, .connection, .contentEncoding, .contentLength, .contentRange, .date, .keepAlive,
            .proxyAuthenticate, .proxyConnection, .serverTiming, .setCookie, .te, .trailer,
            .transferEncoding, .upgrade, .via, .warning, .xRequestID,
        ]
        for name in ["Clear-Site-Data", "Traceresponse", "X-Cache", "X-Runtime"].compactMap(HeaderName.init) {
            names.insert(name)
        }
        return names
    }()

    // MARK: What the upstream says to it

    /// Whether a 304 confirms the answer with this tag, by the strong comparison (RFC 9110 section 8.8.3.2).
    static func confirms(_ notModified: ResponseHead, _ tag: EntityTag) -> Bool {
        // A coding of its own would make it a 304 for other bytes.
        guard !notModified.headers.contains(.contentEncoding), notModified.headers.count(of: .etag) == 1
        else { return false }
        var isSame = false
        notModified.headers.forEachValue(of: .etag) { isSame = tag.strongMatches($0) }
        return isSame
    }

    /// The head of the answer that a 304 stands for (RFC 9111 section 3.2): its fields replace those that are kept.
    static func updated(_ kept: ResponseHead, by notModified: ResponseHead) -> ResponseHead {
        var head = kept
        head.headers.update(with: notModified.headers, keeping: ofTheBody)
        return head
    }

    /// Whether a 304 says nothing of what is kept that is not kept already, which is the rule.
    static func isUnchanged(_ kept: ResponseHead, by notModified: ResponseHead) -> Bool {
        kept.headers.holdsLines(of: notModified.headers, ignoring: ofOneAnswer)
    }

    /// What tells of the body, which stays as it is.
    private static let ofTheBody: HeaderNameSet = [
        .contentEncoding, .contentLength, .contentRange, .trailer, .transferEncoding,
    ]
}

/// What came of asking the upstream whether a stored answer still holds.
package enum RevalidationResult: String, Sendable, CaseIterable {
    /// It does, and went out.
    case hit
    /// Another answer came.
    case changed
    /// The stored answer could not be used, and the whole one was asked for.
    case retried
}
