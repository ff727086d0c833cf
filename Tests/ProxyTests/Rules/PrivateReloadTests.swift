internal import Dictionaries
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let old = Feed.bytes(version: 0, items: 40)
private let ann = "Authorization: Bearer ann-s3cret"

/// Private routes, each by Authorization, with these settings.
private func routes(_ routes: (match: String, settings: String)...) -> String {
    let list = routes.map { route in
        let more = route.settings.isEmpty ? "" : ", \(route.settings)"
        return #"{match: "\#(route.match)", dictionary: {scope: private, identity: authorization\#(more)}}"#
    }
    return "explain: true\nroutes: [\(list.joined(separator: ", "))]"
}

@Suite(.timeLimit(.minutes(40))) struct PrivateReloadTests {
    @Test(arguments: [
        // The fields that clients get change.
        ("/*", "", "/*", "match_dest: [script]"), ("/*", "", "/*", "covers: url"),
        ("/*", "", "/*", "covers: pattern"), ("/*", "covers: url", "/*", ""),
        ("/*", "covers: pattern", "/*", "covers: path"), ("/*", "covers: pattern", "/f*", "covers: pattern"),
        ("/:a", "covers: /<a>", "/:a", "covers: /<a>*"),
    ])
    func `a private version that no route would make is unusable at once, and usable again with its route`(
        match: String, settings: String, otherMatch: String, otherSettings: String
    ) throws {
        let proxy = try TestProxy(json(old), routes((match, settings)))
        _ = try proxy.fetch("/feed", ann)
        let id = "Dictionary-ID: \"\(try #require(proxy.id(of: old)))\""
        #expect(try proxy.fetch("/feed", over: old, ann, id).coding == "dcz")
        try proxy.reload(routes((otherMatch, otherSettings)))
        let answer = try proxy.fetch("/feed", over: old, ann, id)
        #expect(answer.coding == "identity")
        #expect(answer["Dictum-Explain"]?.contains("dictionary-unknown") == true)
        try proxy.reload(routes((match, settings)))
        #expect(try proxy.fetch("/feed", over: old, ann, id).coding == "dcz")
    }

    @Test func `the versions of one of two private routes go with it, those of the other stay`() throws {
        let both = routes(("/feed", "covers: pattern, match_dest: [script]"), ("/*", ""))
        let proxy = try TestProxy(json(old), both)
        for target in ["/feed", "/other"] {
            _ = try proxy.fetch(target, ann)
            #expect(try proxy.fetch(target, over: old, ann).coding == "dcz")
        }
        try proxy.reload(routes(("/*", "")))
        #expect(try proxy.fetch("/feed", over: old, ann).coding == "identity")
        #expect(try proxy.fetch("/other", over: old, ann).coding == "dcz")
    }

    @Test(arguments: ["", "covers: url", "covers: pattern", "covers: /f<0>"])
    func `a reload that leaves a private route as it is leaves its versions`(settings: String) throws {
        let proxy = try TestProxy(json(old), routes(("/f*", settings)))
        _ = try proxy.fetch("/feed?a:b=c*", ann)
        try proxy.reload(routes(("/another", "covers: pattern"), ("/f*", settings)))
        #expect(try proxy.fetch("/feed?a:b=c*", over: old, ann).coding == "dcz")
    }

    @Test(arguments: ["dictionary: off", "dictionary: {personal: off}"])
    func `a private version belongs to no route once no route makes any`(settings: String) throws {
        let proxy = try TestProxy(json(old), routes(("/*", "")))
        _ = try proxy.fetch("/feed", ann)
        #expect(try proxy.fetch("/feed", over: old, ann).coding == "dcz")
        try proxy.reload("routes: [{match: /*, \(settings)}]")
        let said = "1 of 1 versions in :memory: belong to no present route"
        #expect(proxy.events.withLock { $0 }.contains { "\($0)".contains(said) })
    }

    @Test func `what the upstream itself says a private answer is for has no id, so that it is for nothing`()
        throws
    {
        let answer = wire(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nUse-As-Dictionary: match=\"/f*\"", body: old
        )
        let proxy = try TestProxy(answer, routes(("/*", "")))
        #expect(try proxy.fetch("/feed", ann)["Use-As-Dictionary"] == #"match="/f*""#)
        #expect(try proxy.fetch("/feed", over: old, ann).coding == "identity")
        #expect(proxy.server.context.store.statistics.versions == 0)
    }
}
