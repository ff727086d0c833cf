/// What the decisions need to know of the upstream's answer.
package struct ResponseFacts: Sendable {
    /// The status code.
    package var status: Int
    /// Content-Type, as sent.
    package var contentType: String?
    /// How the upstream coded it.
    package var coding: UpstreamCoding
    /// The directives of the upstream's Cache-Control.
    package var cacheControl: CacheControl
    /// The directives of the Cache-Control that the client gets: the upstream's, or the route's.
    package var sentCacheControl: CacheControl
    /// The names in Vary, in lower case.
    package var varyNames: [String]
    /// The names of the cookies that are set.
    package var setCookieNames: [String]
    /// Access-Control-Allow-Origin, as sent.
    package var accessControlAllowOrigin: String?
    /// The length of the decoded body, where it is known: of a coded answer it is not.
    package var bodyBytes: Int?
    /// The bytes of the decoded body that have come so far, for a body whose length is not known.
    package var bodyBytesSeen = 0
    /// Whether the whole body is in memory, so that its coded form has a known length.
    package var isBodyWhole: Bool
    /// Whether the answer has Content-Range.
    package var hasContentRange: Bool
    /// Whether the upstream offers a dictionary itself, by Use-As-Dictionary or by Link.
    package var hasUseAsDictionary: Bool

    /// The facts of an answer of status 200 with nothing in its fields, but for what is given.
    package init(
        status: Int = 200, contentType: String? = nil, contentEncodings: [String] = [],
        cacheControl: CacheControl = CacheControl(), varyNames: [String] = [], setCookieNames: [String] = [],
        accessControlAllowOrigin: String? = nil, bodyBytes: Int? = nil, isBodyWhole: Bool = false,
        hasContentRange: Bool = false, hasUseAsDictionary: Bool = false
    ) {
        self.status = status
        self.contentType = contentType
        coding = UpstreamCoding(contentEncodings)
        self.cacheControl = cacheControl
        sentCacheControl = cacheControl
        self.varyNames = varyNames
        self.setCookieNames = setCookieNames
        self.accessControlAllowOrigin = accessControlAllowOrigin
        self.bodyBytes = bodyBytes
        self.isBodyWhole = isBodyWhole
        self.hasContentRange = hasContentRange
        self.hasUseAsDictionary = hasUseAsDictionary
    }
}
