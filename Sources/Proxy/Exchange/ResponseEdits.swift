internal import Dictionaries
internal import HTTP

/// The edits that make an upstream's head the head that the client gets: pure functions of fields.
struct ResponseEdits {
    /// The coding that the client gets, if it is not the upstream's own.
    var coding = ContentCoding.identity
    /// True if the body's coding differs from what the upstream sent: coded here, or decoded.
    var isCodingChanged = false
    /// The entity tag, if it is known already: the upstream's, or one made from the body.
    var etag: String?
    /// Dictum's own Use-As-Dictionary.
    var offer: UseAsDictionary?
    /// The dictionary to fetch in its stead: a response carries at most one of both.
    var link: DictionaryPath?

    /// The request fields that a response varies by, besides those that the upstream's Vary names.
    enum Variation {
        /// The codings that the client accepts.
        case encoding
        /// The client's dictionary, too; with `byID` its Dictionary-ID as well.
        ///
        /// `isOverPublic` says that the dictionary, if there is one, is for everybody.
        case dictionary(DictionaryPolicy.SharedCaches, byID: Bool, isOverPublic: Bool)

        var names: String {
            switch self {
            case .encoding: "Accept-Encoding"
            case .dictionary(.avoid, false, _): "Accept-Encoding, Available-Dictionary"
            case .dictionary(.avoid, true, _): "Accept-Encoding, Available-Dictionary, Dictionary-ID"
            case .dictionary(.trust, false, _):
                "Accept-Encoding, Available-Dictionary, Sec-Fetch-Site, Sec-Fetch-Mode, Origin"
            case .dictionary(.trust, true, _):
                "Accept-Encoding, Available-Dictionary, Dictionary-ID, Sec-Fetch-Site, Sec-Fetch-Mode, Origin"
            }
        }

        /// True if shared caches should keep no delta: only the holders of an id could use it.
        var avoidsSharedCaches: Bool {
            switch self {
            case .encoding: false
            case .dictionary(let caches, _, let isOverPublic): caches == .avoid || !isOverPublic
            }
        }
    }

    /// Applies the edits to the head of a response that is coded, or may be.
    func apply(to headers: inout Headers, varying variation: Variation) {
        Self.mergeVary(&headers, variation)
        if isCodingChanged { recode(&headers) }
        setETag(&headers)
        addOffer(to: &headers)
        if coding.usesDictionary, variation.avoidsSharedCaches {
            Self.forbidSharedCaches(&headers)
        }
    }

    /// Has shared caches keep no copy.
    ///
    /// A cache goes by the field for its own kind before CDN-Cache-Control (RFC 9213 section 2.2), so these go.
    static func forbidSharedCaches(_ headers: inout Headers) {
        headers.removeAll { name in
            let text = name.text.lowercased()
            return text == "surrogate-control" || text == "edge-control"
                || text.hasSuffix("cdn-cache-control")
        }
        headers.append(.cdnCacheControl, "no-store")
    }

    /// Adds the field that tells which dictionary the client should keep, or where to find one.
    func addOffer(to headers: inout Headers) {
        if let offer {
            headers.append(.useAsDictionary, offer.serialized)
        } else if let link {
            headers.append(.link, LinkField.dictionary(link.text))
        }
    }

    /// Puts the route's Cache-Control in place of the upstream's.
    ///
    /// Expires and Pragma would contradict it (RFC 9111 sections 5.3 and 5.4). Age and Date are facts and stay: a cache
    /// before Dictum has used up that part of the life.
    static func replaceCacheControl(_ headers: inout Headers, with value: String) {
        headers.remove(.expires)
        headers.remove(.pragma)
        headers.replace(.cacheControl, with: value)
    }

    /// Puts a route's priority over the upstream's (RFC 9218 section 8).
    static func prioritize(_ headers: inout Headers, by priority: Priority) {
        let upstreams = Priority(headers) ?? Priority()
        headers.replace(.priority, with: priority.merged(over: upstreams).text)
    }

    /// Adds the names to the upstream's Vary, as RFC 9842 section 6.2 wants it on every variant.
    static func mergeVary(_ headers: inout Headers, _ variation: Variation) {
        let names = variation.names
        guard headers.contains(.vary) else { return headers.append(.vary, checked: names.utf8.span) }
        let added = names.split(separator: ", ").map(String.init)
        headers.replace(.vary, with: Vary.merged(headers.values(.vary), adding: added))
    }

    /// Removes the fields that describe the upstream's bytes (RFC 9110 section 7.7, RFC 9530).
    private func recode(_ headers: inout Headers) {
        headers.removeAll(Self.ofTheCodedBytes)
        headers.removeTrailerNames(where: Self.ofTheCodedBytes.contains)
        if coding != .identity { headers.append(.contentEncoding, coding.token) }
    }

    /// Fields that describe the bytes of one coding, in heads and trailers.
    static let ofTheCodedBytes: HeaderNameSet = [
        .contentEncoding, .contentLength, .acceptRanges, .contentMD5, .contentDigest, .digest, .reprDigest,
    ]

    private func setETag(_ headers: inout Headers) {
        // An unchanged tag stays at its place.
        if !isCodingChanged, headers.count(of: .etag) == 1 { return }
        guard let tag = etag ?? headers.first(.etag) else { return }
        guard let sent = ETagForm.sent(tag, isCodingChanged: isCodingChanged) else {
            return headers.remove(.etag)
        }
        headers.replace(.etag, with: sent)
    }

    /// Returns the 304 that stands for a response that the client holds already (RFC 9110 section 15.4.5).
    static func notModified(from headers: Headers) -> ResponseHead {
        var kept = headers
        kept.removeAll(ofTheRepresentation)
        kept.removeAll(ofTheCodedBytes)
        return ResponseHead(status: .notModified, headers: kept)
    }

    private static let ofTheRepresentation: HeaderNameSet = [
        .contentType, .contentLanguage, .contentRange, .cdnCacheControl, .trailer,
    ]
}
