internal import Dictionaries
internal import TestSupport
internal import Testing

/// A feed that changes with each fetch, and a page that fetches it until three deltas have come.
enum BrowserFeed {
    /// A version.
    static func bytes(_ version: Int) -> [UInt8] { Feed.bytes(version: version, items: 300) }

    private static let page = BrowserPage.html(
        """
        const fetches = [];
        const deltas = () => fetches.filter((fetch) => fetch.encodedBytes * 20 < fetch.decodedBytes).length;
        for (let version = 1; version <= 40 && deltas() < 3; version++) {
            fetches.push(await get("/feed?v=" + version));
            await pause(20);
        }
        await report({fetches});
        """)

    /// Returns the origin's response to a request target; a chunked body comes in several pieces.
    static func answer(_ target: String, isChunked: Bool = false) -> [UInt8]? {
        if target == "/" { return BrowserPage.answer(page) }
        guard let match = target.wholeMatch(of: /\/feed\?v=([0-9]+)/), let version = Int(match.output.1)
        else {
            return nil
        }
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nCache-Control: max-age=600"
        guard isChunked else { return wire(head, body: bytes(version)) }
        let pieces = stride(from: 0, to: bytes(version).count, by: 5000).map { start in
            chunk(Array(bytes(version).dropFirst(start).prefix(5000)))
        }
        return wire(head, "Transfer-Encoding: chunked", body: pieces.joined() + chunk([]))
    }

    /// Dictum before it, with one coding over dictionaries.
    static func visit(isTLS: Bool, coding: String, isChunked: Bool = false) throws -> BrowserVisit {
        try BrowserVisit(isTLS: isTLS, "compression: {codings: [\(coding), gzip]}") {
            answer($0, isChunked: isChunked)
        }
    }

    /// Expects deltas, the origin's bodies, and equal sizes in the browser's report and in the access log.
    ///
    /// Some browsers hide the coding from pages. Then the access log supplies it.
    static func expectDeltas(_ coding: String, by visit: BrowserVisit, tellsCoding: Bool = true) throws {
        var fetches = try #require(try visit.reports().first).fetches
        #expect(fetches.map(\.sha256) == (1...fetches.count).map { Body(bytes($0)).digest.hex })
        #expect(fetches.map(\.decodedBytes) == (1...fetches.count).map { bytes($0).count })
        let sent = try visit.log(of: "/feed")
        try #require(sent.map(\.sentBodyBytes) == fetches.map(\.encodedBytes))
        if tellsCoding {
            #expect(sent.map(\.coding) == fetches.map(\.coding))
        } else {
            for index in fetches.indices { fetches[index].coding = sent[index].coding }
        }
        #expect(fetches.first?.coding == "gzip")
        BrowserVisit.expectDeltas(coding, in: fetches)
    }
}
