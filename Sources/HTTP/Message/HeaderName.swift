internal import Primitives

/// The name of a field, equal in any case (RFC 9110 section 5.1).
///
/// Well-known names have a number, which the parser finds, so that a look-up compares numbers. All others are
/// kept in lower case.
package struct HeaderName: Hashable, Sendable, CustomStringConvertible {
    /// The number of a well-known name; 0 for any other.
    @usableFromInline let id: UInt8
    /// The text of any other name, in lower case; nil for a well-known one, so that no use has a text to release.
    @usableFromInline let other: String?

    /// Takes a name from configuration or code; nil unless it is a token (RFC 9110 section 5.6.2).
    package init?(_ text: String) {
        guard !text.isEmpty, text.utf8.allSatisfy(ASCII.isToken) else { return nil }
        self.init(token: text.utf8.span)
    }

    @inlinable @inline(__always)
    init(_ number: HeaderNumber) {
        id = number.rawValue
        other = nil
    }

    /// Takes a name that is known to be a token.
    init(token: Span<UInt8>) {
        id = HeaderNameTable.shared.id(of: token)
        other = id == 0 ? String(token).lowercased() : nil
    }

    /// The name as it is written: the conventional spelling of well-known names, else lower case.
    package var text: String { other ?? HeaderNameTable.shared.spelling(of: id) }

    /// Writes the name as in a field line, with the colon and the blank behind it.
    func write(into output: inout [UInt8]) {
        guard let other else { return HeaderNameTable.shared.write(id, into: &output) }
        output.append(other.utf8.span)
        output.append(": ")
    }

    package var description: String { text }

    /// True if the name of a line of this block, in any case, is this one.
    @inline(__always)
    func matches(_ line: Headers.Line, of block: Span<UInt8>) -> Bool {
        guard line.id == id else { return false }
        guard let other else { return true }
        return other.utf8.span.equalsIgnoringCase(block.extracting(line.name))
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
/// Computed, because each use of a stored constant would retain and release its text; inlined, because each use of an
/// unknown text would release it.
extension HeaderName {
    @inlinable @inline(__always) package static var accept: Self { Self(.accept) }
    @inlinable @inline(__always) package static var acceptEncoding: Self { Self(.acceptEncoding) }
    @inlinable @inline(__always) package static var acceptLanguage: Self { Self(.acceptLanguage) }
    @inlinable @inline(__always) package static var acceptRanges: Self { Self(.acceptRanges) }
    @inlinable @inline(__always) package static var accessControlAllowOrigin: Self {
        Self(.accessControlAllowOrigin)
    }
    @inlinable @inline(__always) package static var age: Self { Self(.age) }
    @inlinable @inline(__always) package static var allow: Self { Self(.allow) }
    @inlinable @inline(__always) package static var altSvc: Self { Self(.altSvc) }
    @inlinable @inline(__always) package static var authorization: Self { Self(.authorization) }
    @inlinable @inline(__always) package static var availableDictionary: Self { Self(.availableDictionary) }
    @inlinable @inline(__always) package static var cdnCacheControl: Self { Self(.cdnCacheControl) }
    @inlinable @inline(__always) package static var cacheControl: Self { Self(.cacheControl) }
    @inlinable @inline(__always) package static var connection: Self { Self(.connection) }
    @inlinable @inline(__always) package static var contentDigest: Self { Self(.contentDigest) }
    @inlinable @inline(__always) package static var contentDisposition: Self { Self(.contentDisposition) }
    @inlinable @inline(__always) package static var contentEncoding: Self { Self(.contentEncoding) }
    @inlinable @inline(__always) package static var contentLanguage: Self { Self(.contentLanguage) }
    @inlinable @inline(__always) package static var contentLength: Self { Self(.contentLength) }
    @inlinable @inline(__always) package static var contentMD5: Self { Self(.contentMD5) }
    @inlinable @inline(__always) package static var contentLocation: Self { Self(.contentLocation) }
    @inlinable @inline(__always) package static var contentRange: Self { Self(.contentRange) }
    @inlinable @inline(__always) package static var contentSecurityPolicy: Self {
        Self(.contentSecurityPolicy)
    }
    @inlinable @inline(__always) package static var contentType: Self { Self(.contentType) }
    @inlinable @inline(__always) package static var cookie: Self { Self(.cookie) }
    @inlinable @inline(__always) package static var crossOriginResourcePolicy: Self {
        Self(.crossOriginResourcePolicy)
    }
    @inlinable @inline(__always) package static var date: Self { Self(.date) }
    @inlinable @inline(__always) package static var dnt: Self { Self(.dnt) }
    @inlinable @inline(__always) package static var clearSiteData: Self { Self(.clearSiteData) }
    @inlinable @inline(__always) package static var dictionaryID: Self { Self(.dictionaryID) }
    @inlinable @inline(__always) package static var dictumExplain: Self { Self(.dictumExplain) }
    @inlinable @inline(__always) package static var digest: Self { Self(.digest) }
    @inlinable @inline(__always) package static var earlyData: Self { Self(.earlyData) }
    @inlinable @inline(__always) package static var etag: Self { Self(.etag) }
    @inlinable @inline(__always) package static var expect: Self { Self(.expect) }
    @inlinable @inline(__always) package static var expires: Self { Self(.expires) }
    @inlinable @inline(__always) package static var forwarded: Self { Self(.forwarded) }
    @inlinable @inline(__always) package static var host: Self { Self(.host) }
    @inlinable @inline(__always) package static var http2Settings: Self { Self(.http2Settings) }
    @inlinable @inline(__always) package static var ifMatch: Self { Self(.ifMatch) }
    @inlinable @inline(__always) package static var ifModifiedSince: Self { Self(.ifModifiedSince) }
    @inlinable @inline(__always) package static var ifNoneMatch: Self { Self(.ifNoneMatch) }
    @inlinable @inline(__always) package static var ifRange: Self { Self(.ifRange) }
    @inlinable @inline(__always) package static var ifUnmodifiedSince: Self { Self(.ifUnmodifiedSince) }
    @inlinable @inline(__always) package static var keepAlive: Self { Self(.keepAlive) }
    @inlinable @inline(__always) package static var lastModified: Self { Self(.lastModified) }
    @inlinable @inline(__always) package static var link: Self { Self(.link) }
    @inlinable @inline(__always) package static var strictTransportSecurity: Self {
        Self(.strictTransportSecurity)
    }
    @inlinable @inline(__always) package static var location: Self { Self(.location) }
    @inlinable @inline(__always) package static var maxForwards: Self { Self(.maxForwards) }
    @inlinable @inline(__always) package static var origin: Self { Self(.origin) }
    @inlinable @inline(__always) package static var pragma: Self { Self(.pragma) }
    @inlinable @inline(__always) package static var priority: Self { Self(.priority) }
    @inlinable @inline(__always) package static var proxyAuthenticate: Self { Self(.proxyAuthenticate) }
    @inlinable @inline(__always) package static var proxyAuthorization: Self { Self(.proxyAuthorization) }
    @inlinable @inline(__always) package static var proxyConnection: Self { Self(.proxyConnection) }
    @inlinable @inline(__always) package static var range: Self { Self(.range) }
    @inlinable @inline(__always) package static var referer: Self { Self(.referer) }
    @inlinable @inline(__always) package static var reprDigest: Self { Self(.reprDigest) }
    @inlinable @inline(__always) package static var retryAfter: Self { Self(.retryAfter) }
    @inlinable @inline(__always) package static var secCHUA: Self { Self(.secCHUA) }
    @inlinable @inline(__always) package static var secCHUAMobile: Self { Self(.secCHUAMobile) }
    @inlinable @inline(__always) package static var secCHUAPlatform: Self { Self(.secCHUAPlatform) }
    @inlinable @inline(__always) package static var secFetchDest: Self { Self(.secFetchDest) }
    @inlinable @inline(__always) package static var secFetchMode: Self { Self(.secFetchMode) }
    @inlinable @inline(__always) package static var secFetchSite: Self { Self(.secFetchSite) }
    @inlinable @inline(__always) package static var secFetchUser: Self { Self(.secFetchUser) }
    @inlinable @inline(__always) package static var serverTiming: Self { Self(.serverTiming) }
    @inlinable @inline(__always) package static var setCookie: Self { Self(.setCookie) }
    @inlinable @inline(__always) package static var surrogateControl: Self { Self(.surrogateControl) }
    @inlinable @inline(__always) package static var te: Self { Self(.te) }
    @inlinable @inline(__always) package static var traceparent: Self { Self(.traceparent) }
    @inlinable @inline(__always) package static var trailer: Self { Self(.trailer) }
    @inlinable @inline(__always) package static var transferEncoding: Self { Self(.transferEncoding) }
    @inlinable @inline(__always) package static var upgrade: Self { Self(.upgrade) }
    @inlinable @inline(__always) package static var upgradeInsecureRequests: Self {
        Self(.upgradeInsecureRequests)
    }
    @inlinable @inline(__always) package static var useAsDictionary: Self { Self(.useAsDictionary) }
    @inlinable @inline(__always) package static var userAgent: Self { Self(.userAgent) }
    @inlinable @inline(__always) package static var vary: Self { Self(.vary) }
    @inlinable @inline(__always) package static var via: Self { Self(.via) }
    @inlinable @inline(__always) package static var wwwAuthenticate: Self { Self(.wwwAuthenticate) }
    @inlinable @inline(__always) package static var warning: Self { Self(.warning) }
    @inlinable @inline(__always) package static var xContentTypeOptions: Self { Self(.xContentTypeOptions) }
    @inlinable @inline(__always) package static var xForwardedFor: Self { Self(.xForwardedFor) }
    @inlinable @inline(__always) package static var xForwardedHost: Self { Self(.xForwardedHost) }
    @inlinable @inline(__always) package static var xForwardedPort: Self { Self(.xForwardedPort) }
    @inlinable @inline(__always) package static var xForwardedPrefix: Self { Self(.xForwardedPrefix) }
    @inlinable @inline(__always) package static var xForwardedProto: Self { Self(.xForwardedProto) }
    @inlinable @inline(__always) package static var xRealIP: Self { Self(.xRealIP) }
    @inlinable @inline(__always) package static var xRequestID: Self { Self(.xRequestID) }
}
