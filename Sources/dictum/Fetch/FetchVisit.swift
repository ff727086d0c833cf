internal import Dictionaries
internal import HTTP
internal import Primitives

/// A request with its dictionaries, and the interpretation of its response.
struct FetchVisit: Sendable {
    let url: FetchURL
    let accepted: CodingList
    let offered: HeldDictionary?
    /// The dictionary of this URL if it has expired: it cannot be offered, but it can be revalidated.
    let expired: HeldDictionary?
    /// The user's own fields.
    let fields: RequestFields

    init(
        url: FetchURL, cache: DictionaryCache, accepted: CodingList, fields: RequestFields = RequestFields()
    ) {
        let now = SystemClock.unixMilliseconds / 1000
        self.url = url
        self.accepted = accepted
        self.fields = fields
        guard accepted.usesDictionaries else {
            (offered, expired) = (nil, nil)
            return
        }
        offered = cache.best(for: url, at: now)
        let own = cache.own(of: url)
        expired = own.flatMap { $0.record.isUsable(at: now) || $0.record.etag == nil ? nil : $0 }
    }

    /// Makes a visit that offers the given dictionary, even if a client would not.
    init(
        url: FetchURL, accepted: CodingList, offering offered: HeldDictionary?,
        fields: RequestFields = RequestFields()
    ) {
        (self.url, self.accepted, self.offered, self.fields) = (url, accepted, offered, fields)
        expired = nil
    }

    func request() throws(FetchError) -> RequestHead {
        guard let target = try? RequestTarget(url.pathAndQuery) else { throw .notAURL(url.text) }
        var headers = Headers()
        headers.append(.host, url.authority)
        headers.append(.userAgent, "dictum-fetch")
        headers.append(.accept, "*/*")
        headers.append(.acceptEncoding, accepted.acceptEncoding(withDictionary: offered != nil))
        if let offered {
            headers.append(.availableDictionary, ":\(offered.body.digest.base64):")
            // RFC 9842 section 2.3: a client sends the id exactly if the dictionary had one.
            if !offered.record.id.isEmpty {
                headers.append(.dictionaryID, Self.quoted(offered.record.id))
            }
        }
        if let etag = expired?.record.etag { headers.append(.ifNoneMatch, etag) }
        fields.add(to: &headers)
        return RequestHead(method: .get, target: target, headers: headers)
    }

    /// Returns the body of a response, decoded and verified; for a 304, the body that was revalidated.
    func body(of response: FetchResponse) throws(FetchError) -> Body {
        if response.head.status == .notModified, let expired { return expired.body }
        // We never send HEAD, so a response without a body is empty whatever its coding.
        guard !response.head.status.isBodiless else { return Body([]) }
        let coding = try Self.coding(of: response)
        let dictionary = coding.usesDictionary ? offered?.body : nil
        if coding.usesDictionary, dictionary == nil { throw .noDictionaryOffered(coding) }
        do throws(CodingError) {
            let limits = DecoderLimits(maxBytes: FetchClient.bodyBytesMax, maxRatio: 10_000)
            return Body(try Codec.decode(response.body.span, coding, dictionary: dictionary, limits: limits))
        } catch {
            throw .coding(error)
        }
    }

    /// Returns the record to keep; nil if the response is no dictionary that a private cache may keep.
    ///
    /// A 304 updates the record of the body that was revalidated; values that it does not give stay (RFC 9111
    /// section 4.3.4).
    func record(_ response: FetchResponse, _ body: Body) -> CachedDictionary? {
        let headers = response.head.headers
        let old = response.head.status == .notModified ? expired?.record : nil
        guard response.head.status == .ok || old != nil, body.count > 0 else { return nil }
        let sent = UseAsDictionary.parse(headers.values(.useAsDictionary))
        let kept = old.flatMap { UseAsDictionary(match: $0.match, matchDest: $0.matchDest, id: $0.id) }
        guard let offer = sent ?? kept, isValid(offer) else { return nil }
        let cacheControl = CacheControl(headers.values(.cacheControl))
        guard !cacheControl.noStore, !headers.containsToken(.vary, "*") else { return nil }
        let (usable, remaining) = life(response, cacheControl, ttl: sent?.ttl, old: old)
        guard remaining > 0 else { return nil }
        return CachedDictionary(
            url: url.text, match: offer.match, matchDest: offer.matchDest, id: offer.id,
            digest: body.digest.hex,
            bytes: body.count, etag: headers.first(.etag) ?? old?.etag,
            storedAt: SystemClock.unixMilliseconds,
            usableSeconds: usable, expiresAt: response.receivedAt + remaining)
    }

    /// Returns how long the response may be used in all, and from now on, in seconds.
    ///
    /// That is the time while it is fresh or stale but usable (RFC 9842 section 2.2.1), or `ttl` if it is sent.
    private func life(
        _ response: FetchResponse, _ cacheControl: CacheControl, ttl: Int?, old: CachedDictionary?
    ) -> (usable: Int64, remaining: Int64) {
        if let ttl { return (Int64(ttl), Int64(ttl)) }
        let headers = response.head.headers
        let freshness = Freshness(
            cacheControl: cacheControl, age: headers.values(.age), date: headers.values(.date),
            expires: headers.values(.expires), lastModified: headers.values(.lastModified),
            receivedAt: response.receivedAt)
        var usable = freshness.lifetimeSeconds + freshness.staleWhileRevalidateSeconds
        if let old, !headers.contains(.cacheControl), !headers.contains(.expires) {
            usable = old.usableSeconds
        }
        return (usable, usable - freshness.ageSeconds(at: response.receivedAt))
    }

    func report(_ response: FetchResponse, _ body: Body, isStored: Bool, milliseconds: Double) -> FetchReport
    {
        let coding = response.head.status.isBodiless ? nil : try? Self.coding(of: response)
        return FetchReport(
            url: url.text, status: Int(response.head.status.rawValue),
            version: response.head.version.shortText,
            coding: (coding ?? .identity).token, bodyBytes: body.count, wireBytes: response.body.count,
            savedPercent: FetchReport.savedPercent(body: body.count, wire: response.body.count),
            sha256: body.digest.hex, advertised: offered?.body.digest.hex,
            dictionaryID: offered.flatMap { $0.record.id.isEmpty ? nil : $0.record.id }, stored: isStored,
            revalidated: response.head.status == .notModified && expired != nil, milliseconds: milliseconds)
    }

    /// RFC 9842 section 2.1.1: an offer with an invalid match, or one of another origin, is ignored.
    private func isValid(_ offer: UseAsDictionary) -> Bool {
        (try? URLPattern(offer.match, basePath: url.path, origin: url.origin)) != nil
    }

    static func coding(of response: FetchResponse) throws(FetchError) -> ContentCoding {
        var members: [String] = []
        // RFC 9110 section 8.4.1: the names of codings are case-insensitive.
        response.head.headers.forEachListMember(of: .contentEncoding) {
            members.append(String($0).lowercased())
        }
        members.removeAll { $0 == ContentCoding.identity.token }
        guard let name = members.first else { return .identity }
        let coding = name == "x-gzip" ? .gzip : ContentCoding(rawValue: name)
        // Several codings are possible, but no server applies them on purpose.
        guard members.count == 1, let coding else { throw .unknownCoding(members.joined(separator: ", ")) }
        return coding
    }

    /// Quotes a string (RFC 9651 section 4.1.6); a parsed id contains nothing else to escape.
    private static func quoted(_ text: String) -> String {
        let escaped = text.flatMap { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" }
        return "\"\(String(escaped))\""
    }
}
