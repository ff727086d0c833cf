internal import Dictionaries
internal import Foundation
internal import Primitives
internal import TestSupport
internal import Testing

/// Tests Chromium with `stale-while-revalidate` (RFC 5861 section 3).
@Suite(.serialized, .enabled(if: Chromium.program != nil, Chromium.absence), .timeLimit(.minutes(40)))
struct BrowserStaleTests {
    private static let page = BrowserPage.html(
        """
        const fetches = [await get("/news")];
        // Time to register what it has as a dictionary, which on a busy machine may take longer still.
        await pause(500);
        // Each answer comes from the cache, and the next one behind the page's back.
        while (new Set(fetches.map((fetch) => fetch.sha256)).size < 3) {
            await pause(100);
            fetches.push(await get("/news"));
        }
        await report({fetches});
        """)

    @Test func `what is stale while it is revalidated is the dictionary of what replaces it`() throws {
        let version = Guarded(0)
        let visit = try BrowserVisit(isTLS: true, "") { target in
            if target == "/" { return BrowserPage.answer(Self.page) }
            guard target == "/news" else { return nil }
            let number = version.withLock { version in
                version += 1
                return version
            }
            return wire(
                "HTTP/1.1 200 OK", "Content-Type: application/json",
                "Cache-Control: max-age=0, stale-while-revalidate=600",
                body: Feed.bytes(version: number, items: 200))
        }
        try visit.open("/")
        let fetches = try #require(try visit.reports().first).fetches
        let digests = (1...version.withLock { $0 }).map {
            Body(Feed.bytes(version: $0, items: 200)).digest.hex
        }
        let seen = fetches.compactMap { digests.firstIndex(of: $0.sha256) }
        #expect(seen.count == fetches.count, "each body is one of the origin's")
        #expect(seen == seen.sorted() && seen.first == 0)
        // Only the first was waited for.
        #expect(fetches.dropFirst().allSatisfy { $0.transferBytes == 0 }, "\(fetches)")
        // The browser may leave while the last one is on its way.
        let sent = try visit.log(of: "/news").filter { $0.status == 200 }
        #expect(sent.first?.coding != "dcz")
        let deltas = sent.drop { $0.coding != "dcz" }
        #expect(sent.count >= 3 && !deltas.isEmpty && deltas.allSatisfy { $0.coding == "dcz" }, "\(sent)")
    }
}
