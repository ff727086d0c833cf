internal import Dictionaries
internal import Foundation
internal import Storage
internal import TestSupport
internal import Testing

private let old = Feed.bytes(version: 0, items: 850)
private let new = Feed.bytes(version: 1, items: 850)

/// The use of versions that were admitted under other routes.
@Suite(.timeLimit(.minutes(40))) struct StoreRoutesTests {
    /// Returns true if the restarted proxy codes over a version that was admitted with other settings.
    private func isUsed(_ settings: String, in folder: TemporaryFolder) throws -> Bool {
        let proxy = try ServedProxy(Origin(storable(new)), in: folder, "\(settings)\nexplain: true")
        var delta = try proxy.curl("/api/feed", "dcz", over: "old")
        try waitUntil("the dictionary is read from disk") {
            delta = try proxy.curl("/api/feed", "dcz", over: "old")
            return try #require(delta.head["Dictum-Explain"]).contains("dictionary-cold") == false
        }
        #expect(try proxy.process.terminate().status == 0)
        return delta.head["Content-Encoding"] == "dcz"
    }

    private func served(_ settings: String, _ field: String = "X-Nothing: 1") throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try folder.write(old, to: "old")
        let proxy = try ServedProxy(Origin(storable(old, field)), in: folder, settings)
        #expect(try proxy.curl("/api/feed").carries(old))
        #expect(try proxy.process.terminate().status == 0)
        return folder
    }

    @Test(arguments: [
        "routes: [{match: /api/feed, dictionary: off}, {match: /*}]",
        "routes: [{match: /other}]",
        "routes: [{match: /api/*, dictionary: {covers: pattern}}]",
        "routes: [{match: /*, dictionary: {covers: url}}]",
        "routes: [{match: /*, dictionary: {match_dest: [script]}}]",
        "routes: [{match: /*, dictionary: {max_body: 64KiB}}]",
        "compression: {min_size: 1MiB}",
        "compression: {types: [text/html]}",
    ])
    func `a version that no route would make is not used, and is again when its route is back`(
        _ settings: String
    ) throws {
        let folder = try served("routes: [{match: /*}]")
        #expect(try !isUsed(settings, in: folder))
        #expect(try isUsed("routes: [{match: /api/feed}]", in: folder), "another route that makes the same")
    }

    @Test func `a match that the upstream names is the upstream's, as long as the route has dictionaries`()
        throws
    {
        let folder = try served("routes: [{match: /*}]", "Use-As-Dictionary: match=\"/api/*\"")
        #expect(try isUsed("routes: [{match: /api/feed}]", in: folder))
        #expect(try !isUsed("routes: [{match: /api/feed, dictionary: off}]", in: folder))
    }
}
