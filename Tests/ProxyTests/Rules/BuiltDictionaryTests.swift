internal import Dictionaries
internal import Foundation
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

/// `dictionary.built`: a dictionary of a route for clients that have no version of a path.
@Suite(.timeLimit(.minutes(40))) struct BuiltDictionaryTests {
    private let folder: TemporaryFolder
    private let dictionary = (1...3).flatMap(Items.body)

    init() throws {
        folder = try TemporaryFolder()
        try write(dictionary)
    }

    private func write(_ bytes: [UInt8]) throws {
        try Data(bytes).write(to: URL(filePath: folder.file("items.dict")))
    }

    private var settings: String {
        """
        routes:
          - {match: "/items/:id", dictionary: {built: "\(folder.file("items.dict"))"}}
          - {match: /page, announce: [/items/8], dictionary: off}
          - {match: "/*"}
        """
    }

    /// An origin with items, whose versions are the number of the request, and pages.
    private func origin() throws -> Origin {
        try Origin { request, connection in
            guard let number = Int(request.target.dropFirst("/items/".count).prefix { $0 != "?" }) else {
                connection.send(html([UInt8](repeating: 0x20, count: 400)))
                return
            }
            let change = request.target.split(separator: "?").dropFirst().joined()
            connection.send(
                json(Items.body(number) + Array("\n\(change)".utf8), "Cache-Control: public, max-age=60"))
        }
    }

    private func chain(_ host: String = "api.test") -> String {
        ChainKey(authority: host, match: "/items/*").name
    }

    private func path(of dictionary: [UInt8]) -> String {
        DictionaryPath(chainName: chain(), digest: Digest(of: dictionary.span)).text
    }

    // MARK: First visits

    @Test func `a client that was shipped with the dictionary gets its first response as a delta`() throws {
        let proxy = try TestProxy(origin(), settings)
        let plain = try proxy.fetch("/items/8", "Accept-Encoding: gzip, br, zstd")
        let first = try proxy.fetch("/items/9", over: dictionary)
        #expect(first.coding == "dcb", "it is much shorter here")
        #expect(try first.carriesDecoded(Items.body(9) + Array("\n".utf8), over: dictionary))
        #expect(first.body.count * 2 < plain.body.count, "\(first.body.count) \(plain.body.count)")
        #expect(try proxy.fetch("/items/10", over: dictionary, accept: "dcz").coding == "dcz")
        #expect(try proxy.fetch("/items/11", over: Array(dictionary.dropLast())).coding == "identity")
    }

    @Test func `a page announces it for the whole route, and it yields to the paths' own versions`() throws {
        let proxy = try TestProxy(origin(), settings)
        let path = try #require(try proxy.announcedPath())
        #expect(path == self.path(of: dictionary))
        let response = try proxy.fetch(path, "Accept-Encoding: br")
        #expect(response["Use-As-Dictionary"] == #"match="/items/*""#, "no match-dest, which would outrank")
        #expect(response["Cache-Control"] == "public, max-age=86400, immutable")
        #expect(response.coding == "br")
        #expect(try response.carriesDecoded(dictionary))
        #expect(try proxy.metric(#"dictum_announced_dictionaries_total{route="/page"}"#) == 1)
    }

    @Test
    func `a client with the built dictionary is offered each path's own version, and keeps the built one`()
        throws
    {
        let proxy = try TestProxy(origin(), settings)
        for number in 20...29 {
            let response = try proxy.fetch("/items/\(number)", over: dictionary)
            #expect(response.coding == "dcb")
            #expect(response["Use-As-Dictionary"] == "match=\"/items/\(number)\"")
        }
        let own = Items.body(20) + Array("\n".utf8)
        let held = try #require(
            proxy.server.context.store.reader().version(
                chain: ChainKey(authority: "api.test", match: "/items/*"),
                digest: Digest(of: dictionary.span)))
        #expect(held.handedOnAt == 0, "no own version takes its place")
        let later = try proxy.fetch("/items/20?changed", over: own)
        #expect(later.coding == "dcz")
        let built = try proxy.fetch("/items/20?changed", over: dictionary)
        #expect(later.body.count < built.body.count, "a returning client loses nothing")
    }

    @Test func `dcz searches longer over it than over a path's own version`() throws {
        let proxy = try TestProxy(origin(), settings)
        let response = try proxy.fetch("/items/9", over: dictionary, accept: "dcz")
        let body = Body(Items.body(9) + Array("\n".utf8))
        let deltas = Deltas(preparedBytes: 1 << 20, cacheBytes: 0)
        let bytes = [DeltaScope.built, .public].map { scope in
            if case .coded(let delta) = deltas.make(body, over: Body(dictionary), .dcz, in: scope) {
                return Array(delta.bytes)
            }
            return []
        }
        #expect(bytes[0] != bytes[1], "the bodies tell the two apart")
        #expect(response.body == bytes[0])
    }

    @Test(arguments: ["dcz", "dcb"])
    func `a returning client gets the same bytes and offers as without a built dictionary`(coding: String)
        throws
    {
        let without = "routes: [{match: \"/items/:id\", dictionary: {covers: path}}]"
        let responses = try [self.settings, without].map { settings in
            let proxy = try TestProxy(origin(), settings)
            let held = try proxy.fetch("/items/20?0").body
            return try (1...5).map { change in
                let response = try proxy.fetch("/items/20?\(change)", over: held, accept: coding)
                #expect(response.coding == coding)
                return response
            }
        }
        for (with, without) in zip(responses[0], responses[1]) {
            #expect(with.body == without.body)
            for field in ["Use-As-Dictionary", "Vary", "ETag"] { #expect(with[field] == without[field]) }
        }
    }

    @Test func `responses over it have a reason and a metric of their own, and a row on the admin page`()
        throws
    {
        let proxy = try TestProxy(origin(), settings)
        let response = try proxy.fetch("/items/9", over: dictionary)
        _ = try proxy.fetch("/items/9", over: Items.body(9) + Array("\n".utf8))
        let route = #"route="/items/:id""#
        #expect(
            try proxy.metric("dictum_requests_total{\(route),coding=\"dcb\",reason=\"delta-built\"}") == 1)
        #expect(
            try proxy.metric("dictum_built_body_bytes_total{\(route),stage=\"before\"}") == Items.body(9)
                .count
                + 1)
        #expect(
            try proxy.metric("dictum_built_body_bytes_total{\(route),stage=\"after\"}") == response.body.count
        )
        #expect(
            try proxy.metric("dictum_delta_body_bytes_total{\(route),stage=\"after\"}") > response.body.count)
        let routes = try proxy.admin("GET /routes HTTP/1.1", "Host: localhost").text
        let row = try #require(routes.firstMatch(of: /"built":{([^}]*)}/)?.output.1)
        #expect(row.contains(#""responses":1"#) && row.contains("\"body_bytes\":\(Items.body(9).count + 1)"))
        #expect(row.contains("\"sent_bytes\":\(response.body.count)"))
    }

    // MARK: Announcements that are learned

    @Test func `a page whose clients fetch paths of the route announces the built dictionary on credit`()
        throws
    {
        let proxy = try TestProxy(origin(), settings)
        for client in 1...3 {
            _ = try proxy.fetch("/shop", forwarded(for: client), "Sec-Fetch-Dest: document")
            _ = try proxy.fetch(
                "/items/\(client)", forwarded(for: client), "Sec-Fetch-Dest: empty",
                "Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: cors", "Referer: https://api.test/shop")
        }
        let path = try #require(try proxy.announcedPath("/shop"))
        #expect(path == self.path(of: dictionary))
        for client in 1...8 { _ = try proxy.fetch(path, forwarded(for: client)) }
        #expect(try proxy.announcedPath("/shop") == nil, "the downloads have cost more than it has saved")
        #expect(try proxy.announcedPath() == path, "the operator names it")
    }

    // MARK: Reload

    @Test func `after a reload the former one still decodes, and the new one comes as a delta over it`()
        throws
    {
        let proxy = try TestProxy(origin(), settings)
        let former = try #require(try proxy.announcedPath())
        let new = dictionary + Items.body(4)
        try write(new)
        try proxy.reload(settings)
        let path = try #require(try proxy.announcedPath())
        #expect(path == self.path(of: new))
        let response = try proxy.fetch(path, over: dictionary)
        #expect(response.coding == "dcb")
        #expect(try response.carriesDecoded(new, over: dictionary))
        #expect(try proxy.fetch("/items/8", over: dictionary).coding == "dcb")
        #expect(try proxy.fetch("/items/8", over: new).coding == "dcb")
        #expect(try proxy.fetch(former).carries(dictionary))
    }

    @Test func `a route without it any more uses and serves none`() throws {
        let proxy = try TestProxy(origin(), settings)
        let path = try #require(try proxy.announcedPath())
        try proxy.reload("routes: [{match: \"/items/:id\"}, {match: /page, announce: [/items/8]}]")
        #expect(try proxy.fetch("/items/8", over: dictionary).coding == "identity")
        #expect(try proxy.fetch(path).status == 404)
    }

    // MARK: Limits

    @Test func `invented hosts get it only up to a limit`() throws {
        let proxy = try TestProxy(origin(), settings)
        let codings = try (0..<66).map {
            try proxy.fetch("/items/8", over: dictionary, host: "\($0).test").coding
        }
        #expect(codings == Array(repeating: "dcb", count: 64) + ["identity", "identity"])
    }

    // MARK: Fleets

    @Test(.enabled(if: RedisServer.program != nil, "\(RedisServer.absence)"))
    func `every node decodes and serves it, whichever has announced it`() throws {
        let fleet = try TestFleet(2, settings)
        let path = try #require(try fleet.nodes[0].announcedPath())
        let linked = try fleet.nodes[1].fetch(path)
        #expect(linked.carries(dictionary))
        #expect(linked["Use-As-Dictionary"] == #"match="/items/*""#)
        let response = try fleet.nodes[1].fetch("/items/8", over: dictionary)
        #expect(response.coding == "dcb")
        #expect(try response.carriesDecoded(TestFleet.body(0), over: dictionary))
        let other = DictionaryPath(
            chainName: String(repeating: "A", count: DictionaryPath.chainNameLength),
            digest: Digest(of: dictionary.span))
        #expect(try fleet.nodes[1].fetch(other.text).status == 404, "its own chain only")
    }

    // MARK: Mistakes

    @Test(arguments: [
        ("match: /items, dictionary: {built: FILE}", "such as /items/:id"),
        ("match: [/a/*, /b/*], dictionary: {built: FILE}", "such as /items/:id"),
        ("match: \"/items/:id+\", dictionary: {built: FILE}", "such as /items/:id"),
        ("match: /items/*, dictionary: {built: FILE, covers: pattern}", "would replace it"),
        (
            "match: /items/*, dictionary: {built: FILE, scope: private, identity: authorization}",
            "for everybody"
        ),
        ("match: /items/*, dictionary: {built: FILE-missing}", "cannot be read"),
    ])
    func `a route that cannot have one is a mistake`(route: String, text: String) throws {
        let file = folder.file("items.dict")
        let error = try #require(throws: ConfigurationError.self) {
            try TestProxy.configuration(
                origin(), "routes: [{\(route.replacing("FILE", with: file))}]")
        }
        let problem = try #require(error.problems.first)
        #expect(problem.text.contains("routes[0].dictionary.built") && problem.text.contains(text))
    }

    @Test(
        arguments: [
            ([], 0, "no bytes"), ([0x37, 0xa4, 0x30, 0xec], 3, "raw content"),
            ([], BuiltDictionary.bytesMax + 1, "too many bytes"),
        ] as [([UInt8], Int, String)])
    func `a file that no client could use is a mistake`(start: [UInt8], others: Int, text: String) throws {
        try write(start + [UInt8](repeating: 7, count: others))
        let error = try #require(throws: ConfigurationError.self) {
            try TestProxy.configuration(origin(), settings)
        }
        #expect(error.problems.map(\.text).contains { $0.contains(text) }, "\(error.problems)")
        try write([UInt8](repeating: 7, count: BuiltDictionary.bytesMax))
        _ = try TestProxy.configuration(origin(), settings)
    }

    @Test(arguments: [
        ("/items/:id", "/items/*"), ("/items/*", "/items/*"), ("/:kind/:id.json", "/*/*.json"),
        ("/items/:id/", "/items/*/"), ("/items", nil), ("/items/:id*", nil), ("/items/:id+", nil),
        ("/items{/:id}?", nil), ("/a\\:b/*", nil), ("/items/**", nil),
    ])
    func `each group of the match is sent as one character`(pattern: String, match: String?) {
        #expect(BuiltDictionary.match(of: pattern) == match)
    }
}
