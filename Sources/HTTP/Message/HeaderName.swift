internal import Primitives

/// The name of a field, equal in any case (RFC 9110 section 5.1).
///
/// Well-known names have a number, which the parser finds, so that a look-up compares numbers. All others are
/// kept in lower case.
package struct HeaderName: Hashable, Sendable, CustomStringConvertible {
    /// The number of a well-known name; 0 for any other.
    let id: UInt8
    private let other: String

    /// Takes a name from configuration or code; nil unless it is a token (RFC 9110 section 5.6.2).
    package init?(_ text: String) {
        guard !text.isEmpty, text.utf8.allSatisfy(ASCII.isToken) else { return nil }
        self.init(token: text.utf8.span)
    }

    init(_ number: HeaderNumber) {
        id = number.rawValue
        other = ""
    }

    /// Takes a name that is known to be a token.
    init(token: Span<UInt8>) {
        id = HeaderNameTable.shared.id(of: token)
        other = id == 0 ? String(token).lowercased() : ""
    }

    /// The name as it is written: the conventional spelling of well-known names, else lower case.
    package var text: String { id == 0 ? other : HeaderNameTable.shared.spelling(of: id) }

    /// Writes the name as in a field line, with the colon and the blank behind it.
    func write(into output: inout [UInt8]) {
        if id != 0 { return HeaderNameTable.shared.write(id, into: &output) }
        output.append(other.utf8.span)
        output.append(": ")
    }

    package var description: String { text }

    /// True if a received name, in any case, is this one.
    func matches(id: UInt8, _ name: Span<UInt8>) -> Bool {
        guard self.id == id else { return false }
        return id != 0 || other.utf8.span.equalsIgnoringCase(name)
    }
}

extension Span<UInt8> {
    /// True if the two are the same name, or differ in punctuation and one has other than hyphens.
    func looksLikeName(_ other: Span<UInt8>) -> Bool {
        var (place, otherPlace) = (0, 0)
        while true {
            while place < count, !isLetterOrDigit(place) { place += 1 }
            while otherPlace < other.count, !other.isLetterOrDigit(otherPlace) { otherPlace += 1 }
            guard place < count, otherPlace < other.count else { break }
            guard ASCII.lowercased(self[place]) == ASCII.lowercased(other[otherPlace]) else { return false }
            place += 1
            otherPlace += 1
        }
        guard place == count, otherPlace == other.count else { return false }
        return equalsIgnoringCase(other) || !isPlainName || !other.isPlainName
    }

    private func isLetterOrDigit(_ index: Int) -> Bool {
        ASCII.isAlphanumeric(self[index])
    }

    private var isPlainName: Bool { indices.allSatisfy { ASCII.isPlainName(self[$0]) } }
}

extension HeaderName {
    /// True if a trailer section must not hold this field.
    ///
    /// Such fields frame, route, authenticate or describe the content (RFC 9110 section 6.5.1), or must be
    /// known before the body. A digest of the content is known only behind it (RFC 9530 section 2).
    var isForbiddenInTrailers: Bool {
        Self.forbiddenInTrailers.contains(self) || HeaderNameSet.forwarding.contains(self)
            || self != .contentDigest && text.lowercased().hasPrefix("content-")
    }

    private static let forbiddenInTrailers: Set<HeaderName> = [
        .acceptEncoding, .age, .altSvc, .authorization, .availableDictionary, .cacheControl, .cdnCacheControl,
        .connection, .cookie, .date, .dictionaryID, .dictumExplain, .earlyData, .etag, .expect, .expires,
        .host, .http2Settings, .ifMatch, .ifModifiedSince, .ifNoneMatch, .ifRange,
        .ifUnmodifiedSince, .keepAlive, .lastModified, .link, .location, .maxForwards, .origin, .pragma,
        .proxyAuthenticate, .proxyAuthorization, .proxyConnection, .range, .retryAfter, .secFetchDest,
        .secFetchMode, .secFetchSite, .setCookie, .strictTransportSecurity, .surrogateControl, .te, .trailer,
        .transferEncoding, .upgrade, .useAsDictionary, .vary, .via, .wwwAuthenticate,
    ]

    /// The fields in which a proxy tells of its client: whoever can write one can claim an address.
    static let forwardingNames: [HeaderName] = [
        .forwarded, .xForwardedFor, .xForwardedHost, .xForwardedPort, .xForwardedPrefix, .xForwardedProto,
        .xRealIP,
    ]

    /// True for the names above, and for others in which proxies tell of a client's user or certificate.
    var isForwarding: Bool {
        Self.forwardingNames.contains(self) || text.lowercased().hasPrefix("x-forwarded-")
    }
}

/// The names that the program uses, spelled as in their RFCs.
///
/// Computed, because each use of a stored constant would retain and release its text.
extension HeaderName {
    package static var accept: HeaderName { HeaderName(.accept) }
    package static var acceptEncoding: HeaderName { HeaderName(.acceptEncoding) }
    package static var acceptLanguage: HeaderName { HeaderName(.acceptLanguage) }
    package static var acceptRanges: HeaderName { HeaderName(.acceptRanges) }
    package static var accessControlAllowOrigin: HeaderName { HeaderName(.accessControlAllowOrigin) }
    package static var age: HeaderName { HeaderName(.age) }
    package static var allow: HeaderName { HeaderName(.allow) }
    package static var altSvc: HeaderName { HeaderName(.altSvc) }
    package static var authorization: HeaderName { HeaderName(.authorization) }
    package static var availableDictionary: HeaderName { HeaderName(.availableDictionary) }
    package static var cdnCacheControl: HeaderName { HeaderName(.cdnCacheControl) }
    package static var cacheControl: HeaderName { HeaderName(.cacheControl) }
    package static var connection: HeaderName { HeaderName(.connection) }
    package static var contentDigest: HeaderName { HeaderName(.contentDigest) }
    package static var contentDisposition: HeaderName { HeaderName(.contentDisposition) }
    package static var contentEncoding: HeaderName { HeaderName(.contentEncoding) }
    package static var contentLanguage: HeaderName { HeaderName(.contentLanguage) }
    package static var contentLength: HeaderName { HeaderName(.contentLength) }
    package static var contentMD5: HeaderName { HeaderName(.contentMD5) }
    package static var contentLocation: HeaderName { HeaderName(.contentLocation) }
    package static var contentRange: HeaderName { HeaderName(.contentRange) }
    package static var contentSecurityPolicy: HeaderName { HeaderName(.contentSecurityPolicy) }
    package static var contentType: HeaderName { HeaderName(.contentType) }
    package static var cookie: HeaderName { HeaderName(.cookie) }
    package static var crossOriginResourcePolicy: HeaderName { HeaderName(.crossOriginResourcePolicy) }
    package static var date: HeaderName { HeaderName(.date) }
    package static var dnt: HeaderName { HeaderName(.dnt) }
    package static var clearSiteData: HeaderName { HeaderName(.clearSiteData) }
    package static var dictionaryID: HeaderName { HeaderName(.dictionaryID) }
    package static var dictumExplain: HeaderName { HeaderName(.dictumExplain) }
    package static var digest: HeaderName { HeaderName(.digest) }
    package static var earlyData: HeaderName { HeaderName(.earlyData) }
    package static var etag: HeaderName { HeaderName(.etag) }
    package static var expect: HeaderName { HeaderName(.expect) }
    package static var expires: HeaderName { HeaderName(.expires) }
    package static var forwarded: HeaderName { HeaderName(.forwarded) }
    package static var host: HeaderName { HeaderName(.host) }
    package static var http2Settings: HeaderName { HeaderName(.http2Settings) }
    package static var ifMatch: HeaderName { HeaderName(.ifMatch) }
    package static var ifModifiedSince: HeaderName { HeaderName(.ifModifiedSince) }
    package static var ifNoneMatch: HeaderName { HeaderName(.ifNoneMatch) }
    package static var ifRange: HeaderName { HeaderName(.ifRange) }
    package static var ifUnmodifiedSince: HeaderName { HeaderName(.ifUnmodifiedSince) }
    package static var keepAlive: HeaderName { HeaderName(.keepAlive) }
    package static var lastModified: HeaderName { HeaderName(.lastModified) }
    package static var link: HeaderName { HeaderName(.link) }
    package static var strictTransportSecurity: HeaderName { HeaderName(.strictTransportSecurity) }
    package static var location: HeaderName { HeaderName(.location) }
    package static var maxForwards: HeaderName { HeaderName(.maxForwards) }
    package static var origin: HeaderName { HeaderName(.origin) }
    package static var pragma: HeaderName { HeaderName(.pragma) }
    package static var priority: HeaderName { HeaderName(.priority) }
    package static var proxyAuthenticate: HeaderName { HeaderName(.proxyAuthenticate) }
    package static var proxyAuthorization: HeaderName { HeaderName(.proxyAuthorization) }
    package static var proxyConnection: HeaderName { HeaderName(.proxyConnection) }
    package static var range: HeaderName { HeaderName(.range) }
    package static var referer: HeaderName { HeaderName(.referer) }
    package static var reprDigest: HeaderName { HeaderName(.reprDigest) }
    package static var retryAfter: HeaderName { HeaderName(.retryAfter) }
    package static var secCHUA: HeaderName { HeaderName(.secCHUA) }
    package static var secCHUAMobile: HeaderName { HeaderName(.secCHUAMobile) }
    package static var secCHUAPlatform: HeaderName { HeaderName(.secCHUAPlatform) }
    package static var secFetchDest: HeaderName { HeaderName(.secFetchDest) }
    package static var secFetchMode: HeaderName { HeaderName(.secFetchMode) }
    package static var secFetchSite: HeaderName { HeaderName(.secFetchSite) }
    package static var secFetchUser: HeaderName { HeaderName(.secFetchUser) }
    package static var serverTiming: HeaderName { HeaderName(.serverTiming) }
    package static var setCookie: HeaderName { HeaderName(.setCookie) }
    package static var surrogateControl: HeaderName { HeaderName(.surrogateControl) }
    package static var te: HeaderName { HeaderName(.te) }
    package static var traceparent: HeaderName { HeaderName(.traceparent) }
    package static var trailer: HeaderName { HeaderName(.trailer) }
    package static var transferEncoding: HeaderName { HeaderName(.transferEncoding) }
    package static var upgrade: HeaderName { HeaderName(.upgrade) }
    package static var upgradeInsecureRequests: HeaderName { HeaderName(.upgradeInsecureRequests) }
    package static var useAsDictionary: HeaderName { HeaderName(.useAsDictionary) }
    package static var userAgent: HeaderName { HeaderName(.userAgent) }
    package static var vary: HeaderName { HeaderName(.vary) }
    package static var via: HeaderName { HeaderName(.via) }
    package static var wwwAuthenticate: HeaderName { HeaderName(.wwwAuthenticate) }
    package static var warning: HeaderName { HeaderName(.warning) }
    package static var xContentTypeOptions: HeaderName { HeaderName(.xContentTypeOptions) }
    package static var xForwardedFor: HeaderName { HeaderName(.xForwardedFor) }
    package static var xForwardedHost: HeaderName { HeaderName(.xForwardedHost) }
    package static var xForwardedPort: HeaderName { HeaderName(.xForwardedPort) }
    package static var xForwardedPrefix: HeaderName { HeaderName(.xForwardedPrefix) }
    package static var xForwardedProto: HeaderName { HeaderName(.xForwardedProto) }
    package static var xRealIP: HeaderName { HeaderName(.xRealIP) }
    package static var xRequestID: HeaderName { HeaderName(.xRequestID) }
}
