internal import Dictionaries
internal import Storage
internal import Testing

@testable import Proxy

/// Tests which chains count as a page's, by the fetches of its clients.
struct LearnedPagesTests {
    private let page = LearnedPages.Key(authority: "api.test", match: "/")
    private func chain(_ match: String) -> ChainKey { ChainKey(authority: "api.test", match: match) }

    private func fetched(_ matches: [(String, clients: Int)], views: Int = 0, at now: Int = 0) -> LearnedPages
    {
        var pages = LearnedPages()
        for (match, clients) in matches {
            for client in 0..<clients {
                pages.recordFetch(of: chain(match), after: page, by: UInt128(client), now: now)
            }
        }
        for client in 0..<views { pages.recordView(of: page, by: UInt128(client), now: now) }
        return pages
    }

    @Test func `what three clients fetch belongs to the page, the most fetched first`() {
        let pages = fetched([("/a", 3), ("/b", 2), ("/c", 5)])
        #expect(pages.chains(of: page).map(\.match) == ["/c", "/a"])
        #expect(pages.chains(of: LearnedPages.Key(authority: "b.test", match: "/")).isEmpty)
    }

    @Test func `what fewer than half of its clients fetch does not`() {
        #expect(fetched([("/a", 5)], views: 8).chains(of: page).map(\.match) == ["/a"])
        #expect(fetched([("/a", 5)], views: 60).chains(of: page).isEmpty)
    }

    // The count of clients is an estimate, so these are not the numbers next to the bound.
    @Test(arguments: [(14, true), (5, false)])
    func `what eight clients have fetched stays, and stays first, whoever comes later`(
        honest: Int, stays: Bool
    ) {
        var pages = fetched([("/feed", honest)])
        for client in 0..<200 {
            for export in 0..<8 {
                pages.recordFetch(
                    of: chain("/export/\(export)"), after: page, by: 1 << 90 | UInt128(client), now: 1)
            }
        }
        #expect((pages.chains(of: page).first?.match == "/feed") == stays)
    }

    @Test func `one client brings nothing about, and pushes nothing out`() {
        /// Returns what belongs to the page after a client has made up chains and pages.
        func learned(despite client: UInt128) -> Set<String> {
            var pages = fetched([("/a", 4), ("/b", 4)])
            for number in 0..<10_000 {
                pages.recordFetch(of: chain("/made-up/\(number)"), after: page, by: client, now: 1)
                let made = LearnedPages.Key(authority: "api.test", match: "/page/\(number)")
                pages.recordFetch(of: chain("/a"), after: made, by: client, now: 1)
            }
            return Set(pages.chains(of: page).map(\.match))
        }
        // A client may share the bucket of the one that has opened the page: one in 256 does, by the seed of the process.
        let all = (0..<4).map { learned(despite: 1 << 90 | $0) }
        #expect(all.count { $0 == ["/a", "/b"] } >= 3, "\(all)")
    }

    @Test func `two clients with made-up chains hold no more than half of the places`() {
        var pages = LearnedPages()
        func attack(_ round: Int) {
            for number in 0..<20 {
                for client in 0..<2 {
                    pages.recordFetch(
                        of: chain("/made-up/\(round)/\(number)"), after: page, by: 1 << 90 | UInt128(client),
                        now: 0)
                }
            }
        }
        attack(0)
        // Each visitor fetches the same four, while the two go on.
        for visitor in 0..<4 {
            for match in ["/a", "/b", "/c", "/d"] {
                pages.recordFetch(of: chain(match), after: page, by: UInt128(visitor), now: 1)
                attack(visitor + 1)
            }
        }
        #expect(Set(pages.chains(of: page).map(\.match)) == ["/a", "/b", "/c", "/d"])
    }

    @Test func `what three clients fetched gives way to no fewer clients`() {
        var pages = fetched((0..<8).map { ("/\($0)", clients: 3) })
        for number in 0..<1_000 {
            for client in 0..<2 {
                pages.recordFetch(
                    of: chain("/made-up/\(number)"), after: page, by: 1 << 90 | UInt128(client), now: 1)
            }
        }
        #expect(Set(pages.chains(of: page).map(\.match)) == Set((0..<8).map { "/\($0)" }))
        // A page that has changed: as many others as fetched a chain replace it.
        for client in 100..<120 {
            pages.recordFetch(of: chain("/new"), after: page, by: UInt128(client), now: 2)
        }
        #expect(pages.chains(of: page).map(\.match) == ["/new"])
    }

    @Test func `clients that have replaced one chain do not count for the next`() {
        var pages = fetched((0..<8).map { ("/\($0)", clients: 4) })
        for _ in 0..<2 {
            for client in 0..<4 {
                pages.recordFetch(of: chain("/new"), after: page, by: UInt128(client), now: 1)
            }
        }
        let chains = Set((1..<8).map { "/\($0)" } + ["/new"])
        #expect(Set(pages.chains(of: page).map(\.match)) == chains)
        pages.recordFetch(of: chain("/made-up"), after: page, by: 4, now: 2)
        #expect(Set(pages.chains(of: page).map(\.match)) == chains)
    }

    @Test func `what pays stays first, however many clients fetch others`() {
        var pages = fetched([("/feed", 5)])
        let isProven = { (chain: ChainKey) in chain.match == "/feed" }
        for number in 0..<50 {
            for client in 100..<200 {
                pages.recordFetch(
                    of: chain("/made-up/\(number)"), after: page, by: UInt128(client), now: 1,
                    isProven: isProven)
            }
        }
        #expect(pages.chains(of: page, isProven: isProven).first?.match == "/feed")
        #expect(!pages.chains(of: page).contains { $0.match == "/feed" })
        // A chain that pays elsewhere has to be learned on this page.
        let other = { (chain: ChainKey) in chain.match == "/other" }
        for client in 0..<3 {
            pages.recordFetch(of: chain("/other"), after: page, by: UInt128(client), now: 2)
        }
        #expect(!pages.chains(of: page, isProven: other).contains { $0.match == "/other" })
    }

    @Test func `chains that come first leave half of the announcements to others, until they pay`() {
        let made = (0..<4).map { "/made-up/\($0)" }
        func pages(isProven: (ChainKey) -> Bool) -> [String] {
            var pages = LearnedPages()
            for (match, clients) in made.map({ ($0, 0..<14) }) + [("/feed", 100..<140)] {
                for client in clients {
                    pages.recordFetch(
                        of: chain(match), after: page, by: UInt128(client), now: 0, isProven: isProven)
                }
            }
            return pages.chains(of: page, isProven: isProven).map(\.match)
        }
        #expect(pages { _ in false } == [made[0], made[1], "/feed"])
        #expect(pages { made.contains($0.match) } == made + ["/feed"])
    }

    @Test func `a few clients are not half of a page with a thousand`() {
        var pages = fetched([("/a", 1_000)])
        for client in 0..<300 {
            pages.recordFetch(of: chain("/made-up"), after: page, by: 1 << 90 | UInt128(client), now: 1)
        }
        #expect(pages.chains(of: page).map(\.match) == ["/a"])
    }

    @Test func `a page is learned again every six hours, and announces meanwhile what it did`() {
        var pages = fetched([("/a", 4)])
        for client in 0..<3 {
            pages.recordFetch(of: chain("/b"), after: page, by: UInt128(client), now: 21_600)
        }
        #expect(pages.chains(of: page).map(\.match) == ["/b", "/a"])
        pages.recordFetch(of: chain("/b"), after: page, by: 1, now: 43_200)
        #expect(pages.chains(of: page).map(\.match) == ["/b"])
        pages.recordFetch(of: chain("/b"), after: page, by: 1, now: 90_000)
        #expect(pages.chains(of: page).isEmpty, "nobody came for a long time")
    }

    @Test func `very long patterns are not learned`() {
        let long = "/" + String(repeating: "a", count: 512)
        #expect(fetched([(long, 5)]).chains(of: page).isEmpty)
    }

    @Test(arguments: [
        ("https://API.test/a/b?c=d#e", "api.test", "/a/b", "c=d"), ("http://api.test", "api.test", "/", nil),
        ("https://api.test:8443/?", "api.test:8443", "/", ""), ("http://api.test?x", "api.test", "/", "x"),
    ])
    func `a Referer is read`(text: String, authority: String, path: String, query: String?) throws {
        let referer = try #require(Referer(text))
        #expect(referer.authority == authority && referer.url == PathAndQuery(path: path, query: query))
        #expect(Referer("ftp://api.test/") == nil && Referer("about:client") == nil)
    }

    @Test func `what a page had learned is forgotten after twelve hours without a visit`() {
        for (pause, isKnown) in [(43_199, true), (43_200, false)] {
            var pages = fetched([("/a", 4)])
            pages.recordView(of: page, by: 9, now: pause)
            #expect(pages.chains(of: page).map(\.match) == (isKnown ? ["/a"] : []), "\(pause) s")
        }
    }
}
