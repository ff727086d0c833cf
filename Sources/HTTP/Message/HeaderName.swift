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
    @inlinable @inline(__always) package static var accept: HeaderName { HeaderName(.accept) }
    @inlinable @inline(__always) package static var acceptEncoding: HeaderName { HeaderName(.acceptEncoding) }
    @inlinable @inline(__always) package static var acceptLanguage: HeaderName { HeaderName(.acceptLanguage) }
    @inlinable @inline(__always) package static var acceptRanges: HeaderName { HeaderName(.acceptRanges) }
    @inlinable @inline(__always) package static var accessControlAllowOrigin: HeaderName {
        HeaderName(.accessControlAllowOrigin)
    }
    @inlinable @inline(__always) package static var age: HeaderName { HeaderName(.age) }
    @inlinable @inline(__always) package static var allow: HeaderName { HeaderName(.allow) }
    @inlinable @inline(__always) package static var altSvc: HeaderName { HeaderName(.altSvc) }
    @inlinable @inline(__always) package static var authorization: HeaderName { HeaderName(.authorization) }
    @inlinable @inline(__always) package static var availableDictionary: HeaderName {
        HeaderName(.availableDictionary)
    }
    @inlinable @inline(__always) package static var cdnCacheControl: HeaderName {
        HeaderName(.cdnCacheControl)
    }
    @inlinable @inline(__always) package static var cacheControl: HeaderName { HeaderName(.cacheControl) }
    @inlinable @inline(__always) package static var connection: HeaderName { HeaderName(.connection) }
    @inlinable @inline(__always) package static var contentDigest: HeaderName { HeaderName(.contentDigest) }
    @inlinable @inline(__always) package static var contentDisposition: HeaderName {
        HeaderName(.contentDisposition)
    }
    @inlinable @inline(__always) package static var contentEncoding: HeaderName {
        HeaderName(.contentEncoding)
    }
    @inlinable @inline(__always) package static var contentLanguage: HeaderName {
        HeaderName(.contentLanguage)
    }
    @inlinable @inline(__always) package static var contentLength: HeaderName { HeaderName(.contentLength) }
    @inlinable @inline(__always) package static var contentMD5: HeaderName { HeaderName(.contentMD5) }
    @inlinable @inline(__always) package static var contentLocation: HeaderName {
        HeaderName(.contentLocation)
    }
    @inlinable @inline(__always) package static var contentRange: HeaderName { HeaderName(.contentRange) }
    @inlinable @inline(__always) package static var contentSecurityPolicy: HeaderName {
        HeaderName(.contentSecurityPolicy)
    }
    @inlinable @inline(__always) package static var contentType: HeaderName { HeaderName(.contentType) }
    @inlinable @inline(__always) package static var cookie: HeaderName { HeaderName(.cookie) }
    @inlinable @inline(__always) package static var crossOriginResourcePolicy: HeaderName {
        HeaderName(.crossOriginResourcePolicy)
    }
    @inlinable @inline(__always) package static var date: HeaderName { HeaderName(.date) }
    @inlinable @inline(__always) package static var dnt: HeaderName { HeaderName(.dnt) }
    @inlinable @inline(__always) package static var clearSiteData: HeaderName { HeaderName(.clearSiteData) }
    @inlinable @inline(__always) package static var dictionaryID: HeaderName { HeaderName(.dictionaryID) }
    @inlinable @inline(__always) package static var dictumExplain: HeaderName { HeaderName(.dictumExplain) }
    @inlinable @inline(__always) package static var digest: HeaderName { HeaderName(.digest) }
    @inlinable @inline(__always) package static var earlyData: HeaderName { HeaderName(.earlyData) }
    @inlinable @inline(__always) package static var etag: HeaderName { HeaderName(.etag) }
    @inlinable @inline(__always) package static var expect: HeaderName { HeaderName(.expect) }
    @inlinable @inline(__always) package static var expires: HeaderName { HeaderName(.expires) }
    @inlinable @inline(__always) package static var forwarded: HeaderName { HeaderName(.forwarded) }
    @inlinable @inline(__always) package static var host: HeaderName { HeaderName(.host) }
    @inlinable @inline(__always) package static var http2Settings: HeaderName { HeaderName(.http2Settings) }
    @inlinable @inline(__always) package static var ifMatch: HeaderName { HeaderName(.ifMatch) }
    @inlinable @inline(__always) package static var ifModifiedSince: HeaderName {
        HeaderName(.ifModifiedSince)
    }
    @inlinable @inline(__always) package static var ifNoneMatch: HeaderName { HeaderName(.ifNoneMatch) }
    @inlinable @inline(__always) package static var ifRange: HeaderName { HeaderName(.ifRange) }
    @inlinable @inline(__always) package static var ifUnmodifiedSince: HeaderName {
        HeaderName(.ifUnmodifiedSince)
    }
    @inlinable @inline(__always) package static var keepAlive: HeaderName { HeaderName(.keepAlive) }
    @inlinable @inline(__always) package static var lastModified: HeaderName { HeaderName(.lastModified) }
    @inlinable @inline(__always) package static var link: HeaderName { HeaderName(.link) }
    @inlinable @inline(__always) package static var strictTransportSecurity: HeaderName {
        HeaderName(.strictTransportSecurity)
    }
    @inlinable @inline(__always) package static var location: HeaderName { HeaderName(.location) }
    @inlinable @inline(__always) package static var maxForwards: HeaderName { HeaderName(.maxForwards) }
    @inlinable @inline(__always) package static var origin: HeaderName { HeaderName(.origin) }
    @inlinable @inline(__always) package static var pragma: HeaderName { HeaderName(.pragma) }
    @inlinable @inline(__always) package static var priority: HeaderName { HeaderName(.priority) }
    @inlinable @inline(__always) package static var proxyAuthenticate: HeaderName {
        HeaderName(.proxyAuthenticate)
    }
    @inlinable @inline(__always) package static var proxyAuthorization: HeaderName {
        HeaderName(.proxyAuthorization)
    }
    @inlinable @inline(__always) package static var proxyConnection: HeaderName {
        HeaderName(.proxyConnection)
    }
    @inlinable @inline(__always) package static var range: HeaderName { HeaderName(.range) }
    @inlinable @inline(__always) package static var referer: HeaderName { HeaderName(.referer) }
    @inlinable @inline(__always) package static var reprDigest: HeaderName { HeaderName(.reprDigest) }
    @inlinable @inline(__always) package static var retryAfter: HeaderName { HeaderName(.retryAfter) }
    @inlinable @inline(__always) package static var secCHUA: HeaderName { HeaderName(.secCHUA) }
    @inlinable @inline(__always) package static var secCHUAMobile: HeaderName { HeaderName(.secCHUAMobile) }
    @inlinable @inline(__always) package static var secCHUAPlatform: HeaderName {
        HeaderName(.secCHUAPlatform)
    }
    @inlinable @inline(__always) package static var secFetchDest: HeaderName { HeaderName(.secFetchDest) }
    @inlinable @inline(__always) package static var secFetchMode: HeaderName { HeaderName(.secFetchMode) }
    @inlinable @inline(__always) package static var secFetchSite: HeaderName { HeaderName(.secFetchSite) }
    @inlinable @inline(__always) package static var secFetchUser: HeaderName { HeaderName(.secFetchUser) }
    @inlinable @inline(__always) package static var serverTiming: HeaderName { HeaderName(.serverTiming) }
    @inlinable @inline(__always) package static var setCookie: HeaderName { HeaderName(.setCookie) }
    @inlinable @inline(__always) package static var surrogateControl: HeaderName {
        HeaderName(.surrogateControl)
    }
    @inlinable @inline(__always) package static var te: HeaderName { HeaderName(.te) }
    @inlinable @inline(__always) package static var traceparent: HeaderName { HeaderName(.traceparent) }
    @inlinable @inline(__always) package static var trailer: HeaderName { HeaderName(.trailer) }
    @inlinable @inline(__always) package static var transferEncoding: HeaderName {
        HeaderName(.transferEncoding)
    }
    @inlinable @inline(__always) package static var upgrade: HeaderName { HeaderName(.upgrade) }
    @inlinable @inline(__always) package static var upgradeInsecureRequests: HeaderName {
        HeaderName(.upgradeInsecureRequests)
    }
    @inlinable @inline(__always) package static var useAsDictionary: HeaderName {
        HeaderName(.useAsDictionary)
    }
    @inlinable @inline(__always) package static var userAgent: HeaderName { HeaderName(.userAgent) }
    @inlinable @inline(__always) package static var vary: HeaderName { HeaderName(.vary) }
    @inlinable @inline(__always) package static var via: HeaderName { HeaderName(.via) }
    @inlinable @inline(__always) package static var wwwAuthenticate: HeaderName {
        HeaderName(.wwwAuthenticate)
    }
    @inlinable @inline(__always) package static var warning: HeaderName { HeaderName(.warning) }
    @inlinable @inline(__always) package static var xContentTypeOptions: HeaderName {
        HeaderName(.xContentTypeOptions)
    }
    @inlinable @inline(__always) package static var xForwardedFor: HeaderName { HeaderName(.xForwardedFor) }
    @inlinable @inline(__always) package static var xForwardedHost: HeaderName { HeaderName(.xForwardedHost) }
    @inlinable @inline(__always) package static var xForwardedPort: HeaderName { HeaderName(.xForwardedPort) }
    @inlinable @inline(__always) package static var xForwardedPrefix: HeaderName {
        HeaderName(.xForwardedPrefix)
    }
    @inlinable @inline(__always) package static var xForwardedProto: HeaderName {
        HeaderName(.xForwardedProto)
    }
    @inlinable @inline(__always) package static var xRealIP: HeaderName { HeaderName(.xRealIP) }
    @inlinable @inline(__always) package static var xRequestID: HeaderName { HeaderName(.xRequestID) }
}
