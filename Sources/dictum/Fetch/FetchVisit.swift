internal import Dictionaries
internal import HTTP

/// One request with the dictionaries that go with it, and what its answer means.
struct FetchVisit: Sendable {
    let url: FetchURL
    let accepted: CodingList
    /// The dictionary that is offered.
    let offered: HeldDictionary?
    /// The dictionary of this very URL where it has expired: it cannot be offered, but asked about.
    let expired: HeldDictionary?
    /// What else the request says.
    let fields: RequestFields

    init(
        url: FetchURL, cache: DictionaryCache, accepted: CodingList, fields: RequestFields = RequestFields()
    ) {
        let now = Clock.unixMilliseconds / 1000
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

    /// A visit that offers just this dictionary, whether or not a client would.
    init(
        url: FetchURL, accepted: CodingList, offering offered: HeldDictionary?,
        fields: RequestFields = RequestFields()
    ) {
        (self.url, self.accepted, self.offered, self.fields) = (url, accepted, offered, fields)
        expired = nil
    }

    /// The request's head.
    func request() throws(FetchError) -> RequestHead {
        guard let target = try? RequestTarget(url.pathAndQuery) else { throw .notAURL(url.text) }
        var headers = Headers()
        headers.append(.host, url.authority)
        headers.append(.userAgent, "dictum-fetch")
        headers.append(.accept, "*/*")
        headers.append(.acceptEncoding, accepted.acceptEncoding(withDictionary: offered != nil))
        if let offered {
            headers.append(.availableDictionary, ":\(offered.body.digest.base64):")
            // RFC 9842 section 2.3: sent exactly where the dictionary came with an id.
            if !offered.record.id.isEmpty {
                headers.append(.dictionaryID, Self.quoted(offered.record.id))
            }
        }
        if let etag = expired?.record.etag { headers.append(.ifNoneMatch, etag) }
        fields.add(to: &headers)
        return RequestHead(method: .get, target: target, headers: headers)
    }

    /// The body of an answer, decoded and verified; that of a 304 is the one it was asked about.
    func body(of answer: FetchAnswer) throws(FetchError) -> Body {
        if answer.head.status == .notModified, let expired { return expired.body }
        // HEAD is never sent: an answer without body has none whatever its coding says.
        guard !answer.head.status.isBodiless else { return Body([]) }
        let coding = try Self.coding(of: answer)
        let dictionary = coding.usesDictionary ? offered?.body : nil
        if coding.usesDictionary, dictionary == nil { throw .noDictionaryOffered(coding) }
        do throws(CodingError) {
            let limits = DecoderLimits(maxBytes: FetchClient.bodyBytesMax, maxRatio: 10_000)
            return Body(try Codec.decode(answer.body.span, coding, dictionary: dictionary, limits: limits))
        } catch {
            throw .coding(error)
        }
    }

    /// The record to keep of an answer; nil where it is no dictionary that a private cache may keep.
    ///
    /// A 304 speaks for the body that was asked about: what it does not say anew stays as it was (RFC 9111
    /// section 4.3.4).
    func record(_ answer: FetchAnswer, _ body: Body) -> CachedDictionary? {
        let headers = answer.head.headers
        let old = answer.head.status == .notModified ? expired?.record : nil
        guard answer.head.status == .ok || old != nil, body.count > 0 else { return nil }
        let sent = UseAsDictionary.parse(headers.values(.useAsDictionary))
        let kept = old.flatMap { UseAsDictionary(match: $0.match, matchDest: $0.matchDest, id: $0.id) }
        guard let offer = sent ?? kept, isValid(offer) else { return nil }
        let cacheControl = CacheControl(headers.values(.cacheControl))
        guard !cacheControl.noStore, !headers.containsToken(.vary, "*") else { return nil }
        let (usable, remaining) = life(answer, cacheControl, ttl: sent?.ttl, old: old)
        guard remaining > 0 else { return nil }
        return CachedDictionary(
            url: url.text, match: offer.match, matchDest: offer.matchDest, id: offer.id,
            digest: body.digest.hex,
            bytes: body.count, etag: headers.first(.etag) ?? old?.etag, storedAt: Clock.unixMilliseconds,
            usableSeconds: usable, expiresAt: answer.receivedAt + remaining)
    }

    /// How long the answer may be used in all, and from now on, in seconds.
    ///
    /// While it is fresh, or stale but usable (RFC 9842 section 2.2.1); `ttl`, where it is sent, in their stead.
    private func life(
        _ answer: FetchAnswer, _ cacheControl: CacheControl, ttl: Int?, old: CachedDictionary?
    ) -> (usable: Int64, remaining: Int64) {
        if let ttl { return (Int64(ttl), Int64(ttl)) }
        let headers = answer.head.headers
        let freshness = Freshness(
            cacheControl: cacheControl, age: headers.values(.age), date: headers.values(.date),
            expires: headers.values(.expires), lastModified: headers.values(.lastModified),
            receivedAt: answer.receivedAt)
        var usable = freshness.lifetimeSeconds + freshness.staleWhileRevalidateSeconds
        if let old, !headers.contains(.cacheControl), !headers.contains(.expires) {
            usable = old.usableSeconds
        }
        return (usable, usable - freshness.ageSeconds(at: answer.receivedAt))
    }

    /// What the answer cost.
    func report(_ answer: FetchAnswer, _ body: Body, isStored: Bool, milliseconds: Double) -> FetchReport {
        let coding = answer.head.status.isBodiless ? nil : try? Self.coding(of: answer)
        return FetchReport(
            url: url.text, status: Int(answer.head.status.rawValue),
            coding: (coding ?? .identity).token, bodyBytes: body.count, wireBytes: answer.body.count,
            savedPercent: FetchReport.savedPercent(body: body.count, wire: answer.body.count),
            sha256: body.digest.hex, advertised: offered?.body.digest.hex,
            dictionaryID: offered.flatMap { $0.record.id.isEmpty ? nil : $0.record.id }, stored: isStored,
            revalidated: answer.head.status == .notModified && expired != nil, milliseconds: milliseconds)
    }

    /// RFC 9842 section 2.1.1: a match that is no pattern, or of another origin, makes no dictionary.
    private func isValid(_ offer: UseAsDictionary) -> Bool {
        (try? URLPattern(offer.match, basePath: url.path, origin: url.origin)) != nil
    }

    /// The coding of an answer's body.
    static func coding(of answer: FetchAnswer) throws(FetchError) -> ContentCoding {
        var members: [String] = []
        // RFC 9110 section 8.4.1: the names of codings have no case.
        answer.head.headers.forEachListMember(of: .contentEncoding) {
            members.append(String($0).lowercased())
        }
        members.removeAll { $0 == ContentCoding.identity.token }
        guard let name = members.first else { return .identity }
        let coding = name == "x-gzip" ? .gzip : ContentCoding(rawValue: name)
        // Codings one over the other are possible, but nobody sends them on purpose.
        guard members.count == 1, let coding else { throw .unknownCoding(members.joined(separator: ", ")) }
        return coding
    }

    /// RFC 9651 section 4.1.6; the id came as a String, so it holds nothing else to escape.
    private static func quoted(_ text: String) -> String {
        let escaped = text.flatMap { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" }
        return "\"\(String(escaped))\""
    }
}
