internal import Primitives

/// The table of well-known names, which finds a name's number without an allocation.
///
/// Immutable. A name that `HeaderNumber` lists is cheaper to find and has a fixed spelling.
struct HeaderNameTable: Sendable {
    static let shared = HeaderNameTable()

    // A power of two, sparse enough that most names are found in the first slot.
    private static let slotCount = 512

    private let spellings: [String]
    /// All names in lower case, concatenated; `starts` has the index where each begins.
    private let folded: [UInt8]
    private let starts: [UInt16]
    /// All names with the colon and the blank that follow in a field line, concatenated in the same order.
    private let prefixes: [UInt8]
    private let slots: [UInt8]

    private init() {
        spellings = [""] + Self.names
        prefixes = spellings.flatMap { Array("\($0): ".utf8) }
        var folded: [UInt8] = []
        var starts: [UInt16] = [0]
        var slots = [UInt8](repeating: 0, count: Self.slotCount)
        for (id, name) in spellings.enumerated() {
            let name = name.utf8.map(ASCII.lowercased)
            folded += name
            starts.append(UInt16(folded.count))
            guard id > 0 else { continue }
            var slot = Self.slot(of: name.span)
            while slots[slot] != 0 { slot = (slot + 1) % Self.slotCount }
            slots[slot] = UInt8(id)
        }
        (self.folded, self.starts, self.slots) = (folded, starts, slots)
    }

    /// Returns the number of a name in any case, 0 if it is not listed.
    ///
    /// A name with a number is a token. `name` may hold anything but control characters.
    func id(of name: Span<UInt8>) -> UInt8 {
        guard !name.isEmpty else { return 0 }
        var slot = Self.slot(of: name)
        while slots[slot] != 0 {
            let id = slots[slot]
            if isName(id, name) { return id }
            slot = (slot + 1) % Self.slotCount
        }
        return 0
    }

    // Among the bytes that are not controls, only a letter becomes a small letter by bit 0x20. Digits and the
    // hyphen already have it.
    private func isName(_ id: UInt8, _ name: Span<UInt8>) -> Bool {
        let start = Int(starts[Int(id)])
        guard Int(starts[Int(id) + 1]) - start == name.count else { return false }
        return name.equalsSmall(folded.span.extracting(start..<start + name.count))
    }

    /// Writes a listed name as in a field line, with the colon and the blank behind it.
    func write(_ id: UInt8, into output: inout [UInt8]) {
        // Each prefix is two bytes longer than its name in lower case.
        let start = Int(starts[Int(id)]) + 2 * Int(id)
        let end = Int(starts[Int(id) + 1]) + 2 * (Int(id) + 1)
        output.append(prefixes.span.extracting(start..<end))
    }

    func spelling(of id: UInt8) -> String { spellings[Int(id)] }

    // Length, both ends and the middle distinguish the listed names well enough.
    @inline(__always)
    private static func slot(of name: Span<UInt8>) -> Int {
        let first = Int(name[0] | 0x20)
        let middle = Int(name[name.count / 2] | 0x20)
        let last = Int(name[name.count - 1] | 0x20)
        return (name.count &* 67 &+ first &* 31 &+ middle &* 13 &+ last &* 7) % slotCount
    }

    /// The names in their conventional spelling, which is mostly that of their cases, with hyphens.
    static let names = HeaderNumber.allCases.map { number in
        irregularNames[number]
            ?? "\(number)".reduce(into: "") { text, letter in
                text += text.isEmpty ? letter.uppercased() : letter.isUppercase ? "-\(letter)" : "\(letter)"
            }
    }

    private static let irregularNames: [HeaderNumber: String] = [
        .cdnCacheControl: "CDN-Cache-Control", .contentMD5: "Content-MD5", .dnt: "DNT",
        .dictionaryID: "Dictionary-ID", .etag: "ETag", .http2Settings: "HTTP2-Settings", .nel: "NEL",
        .secCHUA: "Sec-CH-UA", .secCHUAMobile: "Sec-CH-UA-Mobile", .secCHUAPlatform: "Sec-CH-UA-Platform",
        .te: "TE", .wwwAuthenticate: "WWW-Authenticate", .xRealIP: "X-Real-IP",
        .xRequestID: "X-Request-ID", .xXSSProtection: "X-XSS-Protection",
    ]
}

/// The numbers of the well-known names.
///
/// A constant that is made from its number needs no look-up, and so no check at each use that the table is
/// initialised.
@usableFromInline enum HeaderNumber: UInt8, CaseIterable, Sendable {
    case accept = 1, acceptCharset, acceptEncoding, acceptLanguage, acceptRanges,
        accessControlAllowCredentials, accessControlAllowHeaders, accessControlAllowMethods,
        accessControlAllowOrigin, accessControlExposeHeaders, accessControlMaxAge,
        accessControlRequestHeaders, accessControlRequestMethod, age, allow, altSvc, authorization,
        availableDictionary, cdnCacheControl, cacheControl, clearSiteData, connection, contentDigest,
        contentDisposition,
        contentEncoding, contentLanguage, contentLength, contentLocation, contentMD5, contentRange,
        contentSecurityPolicy, contentType, cookie, crossOriginResourcePolicy, dnt, date, dictionaryID,
        dictumExplain, digest, etag, earlyData, expect, expires, forwarded, from, http2Settings, host,
        ifMatch, ifModifiedSince, ifNoneMatch, ifRange, ifUnmodifiedSince, keepAlive, lastModified, link,
        location, maxForwards, nel, origin, pragma, priority, proxyAuthenticate, proxyAuthorization,
        proxyConnection, range, referer, referrerPolicy, reportTo, reprDigest, retryAfter, secCHUA,
        secCHUAMobile, secCHUAPlatform, secFetchDest, secFetchMode, secFetchSite, secFetchUser, server,
        serverTiming, setCookie, strictTransportSecurity, surrogateControl, te, timingAllowOrigin,
        traceparent, tracestate, trailer, transferEncoding, upgrade, upgradeInsecureRequests,
        useAsDictionary, userAgent, vary, via, wwwAuthenticate, warning, xCache, xContentTypeOptions,
        xForwardedFor, xForwardedHost, xForwardedPort, xForwardedPrefix, xForwardedProto,
        xFrameOptions, xPoweredBy, xRealIP,
        xRequestID, xRequestedWith, xXSSProtection
}
