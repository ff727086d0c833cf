internal import Dictionaries
internal import HTTP

/// The head of an answer as the client gets it: pure edits of what the upstream sent.
enum Delivery {
    /// What shapes the head of one answer.
    struct Shape {
        /// The coding that the client gets, when it is not the upstream's own.
        var coding = ContentCoding.identity
        /// Whether the body's coding differs from what the upstream sent: coded here, or decoded.
        var isCodingChanged = false
        /// The entity tag, if that is known already: the upstream's, or made from the body where it sent none.
        var etag: String?
        /// The Use-As-Dictionary of ours.
        var offer: UseAsDictionary?
        /// The dictionary to fetch, in its stead: an answer carries one of both at most.
        var link: DictionaryPath?
    }

    /// What decides about a response beside its URL and what the upstream's Vary names.
    enum Variation {
        /// The codings that the client accepts.
        case encoding
        /// The dictionary that it has, too; with `byID` its Dictionary-ID as well.
        ///
        /// `isOverPublic` says that the dictionary, if there is one, is for everybody.
        case dictionary(DictionaryPolicy.SharedCaches, byID: Bool, isOverPublic: Bool)

        /// The names for Vary.
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

        /// Whether caches on the way should keep no delta: what is for the holders of an id is of use to nobody else.
        var avoidsSharedCaches: Bool {
            switch self {
            case .encoding: false
            case .dictionary(let caches, _, let isOverPublic): caches == .avoid || !isOverPublic
            }
        }
    }

    /// Makes the head of an answer whose resource is coded, or may be: says what varies, what was done, what to keep.
    static func shape(_ headers: inout Headers, _ shape: Shape, _ variation: Variation) {
        mergeVary(&headers, variation)
        if shape.isCodingChanged { recode(&headers, shape.coding) }
        setETag(&headers, shape)
        offer(&headers, shape)
        if shape.coding.usesDictionary, variation.avoidsSharedCaches {
            headers.replace(.cdnCacheControl, with: "no-store")
        }
    }

    /// Says which dictionary the client should keep, or where it finds one.
    static func offer(_ headers: inout Headers, _ shape: Shape) {
        if let offer = shape.offer {
            headers.append(.useAsDictionary, offer.serialized)
        } else if let path = shape.link {
            headers.append(.link, LinkField.dictionary(path.text))
        }
    }

    /// Puts the route's Cache-Control in place of the upstream's.
    ///
    /// Expires and Pragma would contradict it (RFC 9111 sections 5.3 and 5.4). Age and Date are facts and stay: what a
    /// cache before us has used up of the life is used up.
    static func replaceCacheControl(_ headers: inout Headers, with value: String) {
        headers.remove(.expires)
        headers.remove(.pragma)
        headers.replace(.cacheControl, with: value)
    }

    /// RFC 9842 section 6.2: on every variant, merged with what the upstream says.
    static func mergeVary(_ headers: inout Headers, _ variation: Variation) {
        let names = variation.names
        guard headers.contains(.vary) else { return headers.append(.vary, names) }
        let added = names.split(separator: ", ").map(String.init)
        headers.replace(.vary, with: Vary.merged(headers.values(.vary), adding: added))
    }

    /// What was said of the upstream's bytes does not hold for others (RFC 9110 section 7.7, RFC 9530).
    private static func recode(_ headers: inout Headers, _ coding: ContentCoding) {
        headers.removeAll(ofTheCodedBytes)
        if coding != .identity { headers.append(.contentEncoding, coding.token) }
    }

    private static let ofTheCodedBytes: HeaderNameSet = [
        .contentEncoding, .contentLength, .acceptRanges, .contentMD5, .contentDigest, .digest, .reprDigest,
    ]

    private static func setETag(_ headers: inout Headers, _ shape: Shape) {
        // What goes on unchanged stays where it stands.
        if !shape.isCodingChanged, headers.count(of: .etag) == 1 { return }
        guard let tag = shape.etag ?? headers.first(.etag) else { return }
        guard let sent = ETagForm.sent(tag, isCodingChanged: shape.isCodingChanged) else {
            return headers.remove(.etag)
        }
        headers.replace(.etag, with: sent)
    }

    /// The entity tag of a body whose answer had none.
    static func entityTag(of digest: Digest) -> String {
        "\"\(digest.base64URL.prefix(22))\""
    }

    /// The 304 that stands for an answer the client holds already (RFC 9110 section 15.4.5).
    static func notModified(from headers: Headers) -> ResponseHead {
        var kept = headers
        kept.removeAll(ofTheRepresentation)
        return ResponseHead(status: .notModified, headers: kept)
    }

    private static let ofTheRepresentation: HeaderNameSet = [
        .contentType, .contentEncoding, .contentLength, .contentLanguage, .contentRange, .acceptRanges,
        .cdnCacheControl, .trailer,
    ]
}
