internal import Dictionaries
internal import Foundation
internal import TestSupport
internal import Testing

/// A real Chromium fetches what changes through `dictum serve`; what came is what the browser itself says.
@Suite(.serialized, .enabled(if: Chromium.program != nil, Chromium.absence), .timeLimit(.minutes(10)))
struct BrowserFeedTests {
    private static func feed(_ version: Int) -> [UInt8] { Feed.bytes(version: version, items: 300) }

    private static let page = BrowserPage.html(
        """
        const fetches = [];
        const deltas = () => fetches.filter(({coding}) => coding.startsWith("dc")).length;
        for (let version = 1; version <= 40 && deltas() < 3; version++) {
            fetches.push(await get("/feed?v=" + version));
            await pause(20);
        }
        await report({fetches});
        """)

    private static func answer(_ target: String) -> [UInt8]? {
        if target == "/" { return BrowserPage.answer(page) }
        guard let match = target.wholeMatch(of: /\/feed\?v=([0-9]+)/), let version = Int(match.output.1)
        else {
            return nil
        }
        return wire(
            "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: max-age=600",
            body: feed(version))
    }

    @Test(arguments: [false, true], ["dcz", "dcb"])
    func `a feed that changes comes as deltas from the second fetch on`(isTLS: Bool, coding: String) throws {
        let visit = try BrowserVisit(
            isTLS: isTLS, "compression: {codings: [\(coding), gzip]}", Self.answer)
        try visit.open("/")
        let fetches = try #require(try visit.reports().first).fetches
        #expect(fetches.map(\.sha256) == (1...fetches.count).map { Body(Self.feed($0)).digest.hex })
        #expect(fetches.first?.coding == "gzip")
        BrowserVisit.expectDeltas(coding, in: fetches)
        for (index, fetch) in fetches.enumerated() {
            #expect(fetch.decodedBytes == Self.feed(index + 1).count)
        }
        // What the browser has read is what went out.
        let sent = try visit.log(of: "/feed")
        #expect(sent.map(\.coding) == fetches.map(\.coding))
        #expect(sent.map(\.sentBodyBytes) == fetches.map(\.encodedBytes))
    }

    /// What the documentation and `dictum doctor` say of certificates.
    @Test
    func `away from localhost a certificate of a private authority leaves a browser without dictionaries`()
        throws
    {
        let visit = try BrowserVisit(isTLS: true, "", Self.answer)
        try visit.open("/", at: "feed.test")
        let fetches = try #require(try visit.reports().first).fetches
        #expect(fetches.count == 40 && fetches.allSatisfy { !$0.coding.hasPrefix("dc") }, "\(fetches)")
    }
}
