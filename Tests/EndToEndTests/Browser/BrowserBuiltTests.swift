internal import Dictionaries
internal import Foundation
internal import Primitives
internal import TestSupport
internal import Testing

/// A dictionary that was built for a route, in a real Chromium.
@Suite(.serialized, .enabled(if: Chromium.program != nil, Chromium.absence), .timeLimit(.minutes(20)))
struct BrowserBuiltTests {
    private static func item(_ number: Int) -> [UInt8] { Feed.bytes(version: 7 * number, items: 12) }

    /// A page that fetches items which it has never fetched before, once `/go` says so, and then one of them again.
    private static let page = BrowserPage.html(
        """
        while (await (await fetch("/go")).text() !== "go") await pause(20);
        await pause(300);
        const fetches = [];
        for (const number of [8, 9, 10]) fetches.push(await get("/items/" + number));
        // The browser writes a dictionary to its disk behind the response.
        let again;
        for (let turn = 0; turn < 100 && !(again?.encodedBytes * 2 < fetches[2].encodedBytes); turn++) {
            await pause(300);
            again = await get("/items/10", {cache: "no-cache"});
        }
        await report({fetches: [...fetches, again]});
        """)

    /// Opens the page before a route with a dictionary, once `prepare` is done; returns what it fetched.
    private func fetches(
        dictionary: String, _ prepare: (BrowserVisit) throws -> Void = { _ in }
    ) throws -> [BrowserReport.Fetch] {
        let mayGo = Guarded(false)
        let tens = Guarded(0)
        let visit = try BrowserVisit(
            isTLS: false,
            """
            trusted_proxies: [127.0.0.1]
            routes:
              - {match: "/items/*", dictionary: {built: \(dictionary)}}
              - {match: /, announce: [/items/8]}
            """
        ) { target in
            if target == "/go" {
                let text = mayGo.withLock { $0 } ? "go" : "wait"
                return wire(
                    "HTTP/1.1 200 OK", "Content-Type: text/plain", "Cache-Control: no-store",
                    body: Array(text.utf8))
            }
            if target == "/" { return BrowserPage.answer(Self.page) }
            guard let number = Int(target.dropFirst("/items/".count)) else { return nil }
            let again =
                number == 10
                ? tens.withLock { tens in
                    defer { tens += 1 }; return tens
                } : 0
            return wire(
                "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: public, max-age=600",
                body: Self.item(number) + Array(repeating: UInt8(ascii: "\n"), count: again))
        }
        try prepare(visit)
        try visit.open("/")
        // The browser fetches the dictionary when it is idle.
        _ = try visit.proxy.process.waitFor("/.dictum/")
        mayGo.withLock { $0 = true }
        return try #require(try visit.reports().first).fetches
    }

    private func expectDeltas(_ fetches: [BrowserReport.Fetch]) throws {
        try #require(fetches.count == 4)
        #expect(fetches.prefix(3).map(\.sha256) == [8, 9, 10].map { Body(Self.item($0)).digest.hex })
        let later = (1...100).map {
            Body(Self.item(10) + Array(repeating: UInt8(ascii: "\n"), count: $0)).digest.hex
        }
        #expect(later.contains(fetches[3].sha256))
        #expect(fetches.allSatisfy { $0.coding.hasPrefix("dc") }, "\(fetches)")
        #expect(fetches[3].encodedBytes * 2 < fetches[2].encodedBytes, "its own version wins: \(fetches)")
    }

    @Test
    func
        `a page that announces it gets items as deltas that it never fetched, and then over their own versions`()
        throws
    {
        let folder = try TemporaryFolder()
        try folder.write((1...4).flatMap(Self.item), to: "items.dict")
        try expectDeltas(fetches(dictionary: "\"\(folder.path)/items.dict\""))
    }

    @Test func `what others were sent is learned, and a new browser gets items as deltas over that`() throws {
        let fetches = try fetches(dictionary: "learned") { visit in
            // What a client is sent in its first ten seconds does not count.
            try waitUntil("a dictionary is learned") {
                for client in 1...5 {
                    let fetch = [
                        "curl", "-sS", "-o", "/dev/null", "-H", "X-Forwarded-For: 203.0.113.\(client)", "-H",
                        "X-Forwarded-Proto: https", "-H", "Accept-Encoding: gzip, dcb",
                        "http://localhost:\(visit.proxy.port)/items/[100-139]",
                    ]
                    try #require(RunningProcess.run(fetch, of: "/usr/bin/env").status == 0)
                }
                return try visit.proxy.metrics().contains(#"reason="trained"} 1"#)
            }
        }
        try expectDeltas(fetches)
    }
}
