/// The facts about the upstream's response that the decisions depend on.
package struct ResponseFacts: Sendable {
    package var status: Int
    /// Content-Type, as sent.
    package var contentType: String?
    package var coding: UpstreamCoding
    /// The directives of the upstream's Cache-Control.
    package var cacheControl: CacheControl
    /// The directives of the Cache-Control that the client gets: the upstream's, or the route's.
    package var sentCacheControl: CacheControl
    /// The names in Vary, in lower case.
    package var varyNames: [String]
    package var setCookieNames: [String]
    /// Access-Control-Allow-Origin, as sent.
    package var accessControlAllowOrigin: String?
    /// The length of the decoded body; nil if not known, as for a coded response.
    package var bodyBytes: Int?
    /// The number of decoded body bytes so far, for a body of unknown length.
    package var bodyBytesSeen = 0
    /// True if the whole body is in memory, so that its coded form has a known length.
    package var isBodyWhole: Bool
    package var hasContentRange: Bool
    /// True if the upstream itself offers a dictionary, by Use-As-Dictionary or by Link.
    package var hasUseAsDictionary: Bool

    /// Makes the facts of a response with status 200 and none of these fields, except for the given ones.
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
