/// A cause for which a client does not keep a response as a dictionary.
package enum UnkeptCause: String, Error, Sendable {
    /// The status is not 200, or a 304 confirms nothing that is held.
    case status
    /// The response offers no dictionary, or its offer is malformed.
    case notOffered = "not offered"
    /// The pattern is invalid, of another origin, or has regexp groups (RFC 9842 section 2.1.1).
    case match
    case empty
    /// The body is in a coding that the client does not undo, and only a decoded one is a dictionary.
    case coding
    /// `no-store`, or `Vary: *`.
    case noStore = "no-store"
    /// The response says nothing of its life: no lifetime, no `Last-Modified`, no `ttl`.
    case noLifetime = "no lifetime"
    /// The response is stale already (RFC 9842 section 2.2.1).
    case stale
}

extension CachedDictionary {
    /// Makes the record of a response that a private cache may keep as a dictionary.
    ///
    /// `fields` returns the lines of a field by its name in lower case, and `digest` and `bytes` are those of the
    /// decoded body. A 304 updates the record of the body that it confirms, `old`; values that it does not give stay
    /// (RFC 9111 section 4.3.4). One that came stale is made if it has an ETag, but is not usable.
    package init(
        status: Int, fields: (String) -> [String], of target: TargetURI, digest: Digest, bytes: Int,
        operation: String? = nil, confirming old: CachedDictionary?, receivedAt: Int64, storedAt: Int64
    ) throws(UnkeptCause) {
        let old =
            status == 304 ? old.flatMap { OwnCondition.isConfirmed($0, by: fields("etag")) ? $0 : nil } : nil
        guard status == 200 || old != nil else { throw .status }
        let sent = UseAsDictionary.parse(fields("use-as-dictionary"))
        let kept = old.flatMap {
            UseAsDictionary(match: $0.match, matchDest: $0.matchDest, id: $0.id, ttl: $0.ttl)
        }
        guard let offer = sent ?? kept else { throw .notOffered }
        guard (try? URLPattern(offer.match, basePath: target.path, origin: target.origin)) != nil else {
            throw .match
        }
        guard bytes > 0 else { throw .empty }
        let cacheControl = CacheControl(fields("cache-control"))
        guard !cacheControl.noStore, !Vary.names(fields("vary")).contains("*") else { throw .noStore }
        let life = Life(fields, cacheControl, ttl: offer.ttl, confirming: old, receivedAt: receivedAt)
        let etag = fields("etag").first ?? old?.etag
        // A short life may end on the way. A 304 can then give it another one.
        guard life.remaining > 0 || life.usable > 0 && etag != nil else {
            throw life.isUnknown ? .noLifetime : .stale
        }
        self.init(
            url: target.text, match: offer.match, matchDest: offer.matchDest, id: offer.id,
            digest: digest.hex,
            bytes: bytes, etag: etag, storedAt: storedAt,
            usableSeconds: life.usable, expiresAt: receivedAt + life.remaining, operation: operation,
            ttl: offer.ttl)
    }
}

/// The time for which a response may be used as a dictionary, in all and from now on, in seconds.
///
/// That is while it is fresh, or stale but usable (RFC 9842 section 2.2.1), or `ttl` if it is sent.
private struct Life {
    let usable: Int64
    let remaining: Int64
    /// True if nothing in the response says how long it lives.
    let isUnknown: Bool

    init(
        _ fields: (String) -> [String], _ cacheControl: CacheControl, ttl: Int?,
        confirming old: CachedDictionary?,
        receivedAt: Int64
    ) {
        if let ttl {
            (usable, remaining, isUnknown) = (Int64(ttl), Int64(ttl), false)
            return
        }
        let freshness = Freshness(
            cacheControl: cacheControl, age: fields("age"), date: fields("date"), expires: fields("expires"),
            lastModified: fields("last-modified"), receivedAt: receivedAt)
        let isSilent = fields("cache-control").isEmpty && fields("expires").isEmpty
        usable =
            old.flatMap { isSilent ? $0.usableSeconds : nil }
            ?? freshness.lifetimeSeconds + freshness.staleWhileRevalidateSeconds
        remaining = usable - freshness.ageSeconds(at: receivedAt)
        isUnknown = usable == 0 && isSilent && fields("last-modified").isEmpty
    }
}
