/// The URL that the field Content-Location names (RFC 9110 section 8.7).
package enum ContentLocation: Sendable {
    /// The response has no such field.
    case none
    /// It is the URL of the request.
    case target
    case other

    /// Reads the field's values; a reference that needs more than a comparison counts as another URL.
    ///
    /// - Parameter url: The path and the query of the request.
    package init(_ values: [String], url: String, authority: String?) {
        guard !values.isEmpty else {
            self = .none
            return
        }
        let names = [url] + (authority.map { ["http://\($0)\(url)", "https://\($0)\(url)"] } ?? [])
        self = values.allSatisfy(names.contains) ? .target : .other
    }
}

/// The facts about the upstream's response that the decisions depend on.
package struct ResponseFacts: Sendable {
    package var status = 200
    /// Content-Type, as sent.
    package var contentType: String?
    package var coding = UpstreamCoding.none
    package var cacheControl = CacheControl()
    /// The directives of the Cache-Control that the client gets: the upstream's, or the route's.
    package var sentCacheControl = CacheControl()
    /// The names in Vary, in lower case.
    package var varyNames: [String] = []
    package var setCookieNames: [String] = []
    /// Access-Control-Allow-Origin, as sent.
    package var accessControlAllowOrigin: String?
    /// The length of the decoded body; nil if not known, as for a coded response.
    package var bodyBytes: Int?
    /// The number of decoded body bytes so far, for a body of unknown length.
    package var bodyBytesSeen = 0
    /// True if the whole body is in memory, so that its coded form has a known length.
    package var isBodyWhole = false
    package var hasContentRange = false
    /// The URL that Content-Location names; read only for methods other than GET.
    package var contentLocation = ContentLocation.none
    /// True if the fields that the client gets say that the response lives; read only for methods other than GET.
    package var isExplicitlyFresh = false
    /// True if the upstream itself offers a dictionary, by Use-As-Dictionary or by Link.
    package var hasUseAsDictionary = false

    /// Makes the facts of a response with status 200 and none of these fields.
    package init() {}
}
