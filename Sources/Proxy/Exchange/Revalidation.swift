internal import Dictionaries
internal import HTTP
internal import Storage

/// The rules for asking the upstream about a stored response: pure functions.
///
/// Dictum is no cache: the upstream is asked every time, with If-None-Match alone, and a stored body goes out only
/// after a 304 that names its strong entity tag.
enum Revalidation {
    // MARK: The request

    /// Returns true if a request may get the response of another one: nothing in it is personal, or asks for a part, a
    /// condition of the client's own, or a new response.
    ///
    /// Its fields are checked once a stored response is known: see `isOrdinary`.
    static func mayAsk(_ request: RequestHead, framing: BodyFraming, _ facts: RequestFacts) -> Bool {
        guard facts.method == .get, !framing.hasBody, facts.isPathNormal,
            facts.isNobodys, !facts.noStore, !facts.noTransform
        else { return false }
        let headers = request.headers
        // A client with a condition of its own gets the upstream's response to that.
        guard !headers.containsAny(of: ownQuestions) else { return false }
        // RFC 9111 section 5.4: Pragma counts where there is no Cache-Control.
        if headers.contains(.cacheControl) { return !CacheControl(headers.values(.cacheControl)).noCache }
        return !headers.containsToken(.pragma, "no-cache")
    }

    /// Returns true if the upstream responds to the request as to any other with the same URL and variant.
    ///
    /// An upstream may write the value of a field that its Vary does not name (`X-Host`) into its page. Then one request
    /// would decide what the next client reads.
    static func isOrdinary(
        _ request: RequestHead, for response: Headers, varyingBy names: [String], isPeerTrusted: Bool
    ) -> Bool {
        OrdinaryRequestFields.areAll(in: request, or: names, isPeerTrusted: isPeerTrusted)
            && sharesOrigin(response, varyingBy: names, with: request)
    }

    /// Fields by which a client asks for less than the whole response.
    static let ownQuestions: HeaderNameSet = [
        .range, .ifRange, .ifNoneMatch, .ifMatch, .ifModifiedSince, .ifUnmodifiedSince, .upgrade,
    ]

    // MARK: The response that is kept

    /// Returns the head to keep of a response that may become a version; nil if the upstream is not to be asked about it.
    ///
    /// It must be a response that shared caches may store (RFC 9111 section 3), with a strong tag of the upstream's own, to
    /// a request that brings everybody the same: `isOrdinary`.
    static func kept(
        _ head: ResponseHead, _ response: ResponseFacts, for request: RequestFacts, isOrdinary: Bool,
        acceptEncoding: Configuration.Upstream.AcceptEncodingMode, source: String
    ) -> [UInt8]? {
        guard response.status == 200, response.coding == .none,
            strongTag(head.headers) != nil, !head.headers.contains(.trailer),
            !response.cacheControl.noStore, !response.cacheControl.isPrivate, request.isNobodys, isOrdinary,
            Set(response.varyNames).isDisjoint(with: ownFields),
            acceptEncoding == .identity || !response.varyNames.contains("accept-encoding")
        else { return nil }
        var bytes: [UInt8] = []
        var kept = ResponseHead(status: .ok, headers: head.headers)
        kept.headers.removeAll(ofOneResponse)
        if let name = sourceName {
            kept.headers.remove(name)
            kept.headers.append(name, source)
        }
        HeadWriter.write(kept, into: &bytes)
        return bytes.count <= StoredHead.bytesMax ? bytes : nil
    }

    /// The field of kept heads for the scheme and `Route.source`; it never leaves the store.
    fileprivate static let sourceName = HeaderName("dictum-source")

    static func strongTag(_ headers: Headers) -> EntityTag? {
        guard headers.count(of: .etag) == 1, let tag = headers.first(.etag).flatMap(EntityTag.init),
            !tag.isWeak
        else { return nil }
        return tag
    }

    /// Returns false for a response that may be made for the page of one origin, even if its Vary does not say so.
    ///
    /// A response to another origin's page that allows no origin may still depend on that origin.
    private static func sharesOrigin(
        _ response: Headers, varyingBy names: [String], with request: RequestHead
    ) -> Bool {
        if names.contains("origin") { return true }
        guard let allowed = response.first(.accessControlAllowOrigin) else {
            return !request.headers.contains(.origin)
        }
        return allowed == "*"
    }

    /// Fields that Dictum writes into requests itself, so that the client's fields do not tell what the upstream saw.
    private static let ownFields: Set<String> = [
        "expect", "forwarded", "if-none-match", "te", "via", "x-forwarded-for",
        "x-forwarded-host", "x-forwarded-proto",
    ]

    /// Fields that describe one response only, and those that are written anew.
    private static let ofOneResponse = HeaderNameSet([
        .age, .connection, .contentEncoding, .contentLength, .contentRange, .date, .keepAlive,
        .proxyAuthenticate, .proxyConnection, .serverTiming, .setCookie, .te, .trailer,
        .transferEncoding, .upgrade, .via, .warning, .xRequestID,
    ]).adding(["Clear-Site-Data", "Traceresponse", "X-Cache", "X-Runtime"])

    // MARK: The upstream's 304

    /// Returns true if a 304 confirms the response with this tag, by the strong comparison (RFC 9110 section 8.8.3.2).
    static func confirms(_ notModified: ResponseHead, _ tag: EntityTag) -> Bool {
        // With a coding of its own it would be a 304 for other bytes.
        guard !notModified.headers.contains(.contentEncoding), notModified.headers.count(of: .etag) == 1
        else { return false }
        var isSame = false
        notModified.headers.forEachValue(of: .etag) { isSame = tag.strongMatches($0) }
        return isSame
    }

    /// Returns the head of the response that a 304 stands for (RFC 9111 section 3.2): its fields replace the kept ones.
    static func updated(_ kept: ResponseHead, by notModified: ResponseHead) -> ResponseHead {
        var head = kept
        head.headers.update(with: notModified.headers, keeping: ofTheBody)
        return head
    }

    /// Returns true if the kept head has all fields of a 304 already, as is usual.
    static func isUnchanged(_ kept: ResponseHead, by notModified: ResponseHead) -> Bool {
        kept.headers.holdsLines(of: notModified.headers, ignoring: ofOneResponse)
    }

    /// Fields that describe the body, which stays as it is.
    private static let ofTheBody: HeaderNameSet = [
        .contentEncoding, .contentLength, .contentRange, .trailer, .transferEncoding,
    ]
}

/// The head of a stored response, and the strong tag that the upstream is asked about.
///
/// A class, because every request that may get the response takes it along.
final class KeptHead: Sendable {
    let head: ResponseHead
    let tag: EntityTag
    /// The scheme of its URL, and the `Route.source` of the route that brought it.
    let source: String

    /// Reads what `Revalidation.kept` wrote; nil for bytes that are no such head.
    init?(_ bytes: [UInt8]) {
        var parser = HeadParser(limits: MessageLimits(headBytes: StoredHead.bytesMax + 1))
        guard var head = try? parser.parseResponse(bytes.span), let tag = Revalidation.strongTag(head.headers)
        else { return nil }
        source = Revalidation.sourceName.flatMap { head.headers.first($0) } ?? ""
        if let name = Revalidation.sourceName { head.headers.remove(name) }
        (self.head, self.tag) = (head, tag)
    }
}

/// A stored response that the upstream is asked about; owned by its exchange, on its loop.
final class StoredResponse {
    enum BodyState {
        case loading
        case ready(Body)
        case lost
    }

    let version: Storage.Version
    let kept: KeptHead
    var body = BodyState.loading
    var notModified: ResponseHead?

    init(version: Storage.Version, kept: KeptHead) {
        self.version = version
        self.kept = kept
    }
}
