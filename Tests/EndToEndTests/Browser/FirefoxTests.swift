internal import Testing

/// Tests a real Firefox with dictionaries enabled by its preference.
@Suite(.serialized, .enabled(if: Firefox.program != nil, Firefox.absence), .timeLimit(.minutes(40)))
struct FirefoxTests {
    @Test(arguments: ["dcz", "dcb"])
    func `a feed that changes comes as deltas to Firefox`(coding: String) throws {
        let visit = try BrowserFeed.visit(isTLS: true, coding: coding)
        try visit.openInFirefox("/")
        // Its Resource Timing has no contentEncoding.
        try BrowserFeed.expectDeltas(coding, by: visit, tellsCoding: false)
    }
}
