internal import Dictionaries
internal import Foundation
internal import TestSupport
internal import Testing

/// Tests a changing feed with a real Chromium through `dictum serve`, by the browser's own measurements.
@Suite(.serialized, .enabled(if: Chromium.program != nil, Chromium.absence), .timeLimit(.minutes(40)))
struct BrowserFeedTests {
    @Test(arguments: [false, true], ["dcz", "dcb"])
    func `a feed that changes comes as deltas from the second fetch on`(isTLS: Bool, coding: String) throws {
        let visit = try BrowserFeed.visit(isTLS: isTLS, coding: coding)
        try visit.open("/")
        try BrowserFeed.expectDeltas(coding, by: visit)
        #expect(try visit.log(of: "/feed").allSatisfy { $0.httpVersion == (isTLS ? "HTTP/2.0" : "HTTP/1.1") })
    }

    @Test(arguments: [false, true], ["dcz", "dcb"])
    func `bodies that the upstream sends in chunks come as deltas too`(isTLS: Bool, coding: String) throws {
        let visit = try BrowserFeed.visit(isTLS: isTLS, coding: coding, isChunked: true)
        try visit.open("/")
        try BrowserFeed.expectDeltas(coding, by: visit)
    }

    /// Confirms the warning about certificates in the documentation and in `dictum doctor`.
    @Test
    func `away from localhost a certificate of a private authority leaves a browser without dictionaries`()
        throws
    {
        let visit = try BrowserVisit(isTLS: true, "") { BrowserFeed.answer($0) }
        try visit.open("/", at: "api.test")
        let fetches = try #require(try visit.reports().first).fetches
        #expect(fetches.count == 40 && fetches.allSatisfy { !$0.coding.hasPrefix("dc") }, "\(fetches)")
    }
}
