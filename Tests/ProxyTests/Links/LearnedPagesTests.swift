internal import Dictionaries
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
        #expect(fetched([("/a", 10)], views: 15).chains(of: page).map(\.match) == ["/a"])
        #expect(fetched([("/a", 10)], views: 60).chains(of: page).isEmpty)
    }

    @Test func `one client brings nothing about, and pushes nothing out`() {
        var pages = fetched([("/a", 4), ("/b", 4)])
        for number in 0..<10_000 {
            pages.recordFetch(of: chain("/made-up/\(number)"), after: page, by: 1 << 90, now: 1)
            let made = LearnedPages.Key(authority: "api.test", match: "/page/\(number)")
            pages.recordFetch(of: chain("/a"), after: made, by: 1 << 90, now: 1)
        }
        #expect(Set(pages.chains(of: page).map(\.match)) == ["/a", "/b"])
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
}
