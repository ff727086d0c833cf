internal import Dictionaries
internal import HTTP
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let body = Feed.bytes(version: 0, items: 40)
private let link = #"routes: [{match: "/*", dictionary: {delivery: link}}]"#

/// Tests that only bodies with proof of being public get a dictionary URL.
@Suite(.timeLimit(.minutes(40))) struct PublicProofTests {
    /// Returns true if any client can fetch the body by its dictionary URL.
    private func isReadable(_ body: [UInt8], by proxy: TestProxy, match: String = "/feed") throws -> Bool {
        let chain = ChainKey(authority: "api.test", match: match).name
        let path = DictionaryPath(chainName: chain, digest: Digest(of: body.span)).text
        return try proxy.fetch(path).status == 200
    }

    private func fetch(_ proxy: TestProxy, clients: [Int], _ target: String = "/feed", _ fields: String...)
        throws -> String?
    {
        var link: String?
        for client in clients {
            let socket = try proxy.connect()
            socket.send(request(target, [forwarded(for: client)] + fields))
            link = try socket.receive()["Link"]
        }
        return link
    }

    // MARK: The response

    @Test(arguments: [
        ("public", true), ("public, max-age=0", true), ("s-maxage=60", true), ("max-age=0, Public", true),
        ("no-cache", false), ("max-age=60", false), ("must-revalidate", false),
        ("immutable", false), ("private", false), ("public, private", false), ("public, no-store", false),
    ])
    func `only a response that says public or s-maxage proves anything`(control: String, isPublic: Bool)
        throws
    {
        let proxy = try TestProxy(json(body, "Cache-Control: \(control)"), link)
        #expect(try (fetch(proxy, clients: Array(1...5)) != nil) == isPublic)
        #expect(try isReadable(body, by: proxy) == isPublic)
    }

    @Test(arguments: [("\"public, max-age=60\"", true), ("max-age=60", false)])
    func `the operator's own cache_control can say it`(value: String, isPublic: Bool) throws {
        let proxy = try TestProxy(
            json(body, "Cache-Control: no-cache"),
            #"routes: [{match: "/*", dictionary: {delivery: link, cache_control: \#(value)}}]"#)
        #expect(try (fetch(proxy, clients: [1, 2, 3]) != nil) == isPublic)
        #expect(try isReadable(body, by: proxy) == isPublic)
    }

    // MARK: The clients

    @Test(arguments: [
        ([1], false), ([1, 1, 1, 1], false), ([1, 2, 1, 2, 2], false), ([1, 2, 3], true),
        ([1, 1, 2, 1, 3], true),
    ])
    func `three addresses prove it, and no number of responses to fewer`(clients: [Int], isPublic: Bool)
        throws
    {
        let proxy = try TestProxy(json(body, "Cache-Control: public"), link)
        #expect(try (fetch(proxy, clients: clients) != nil) == isPublic)
        #expect(try isReadable(body, by: proxy) == isPublic)
    }

    @Test func `the addresses of one IPv6 network are one`() throws {
        let proxy = try TestProxy(json(body, "Cache-Control: public"), link)
        for address in ["2001:db8::1", "2001:db8::2", "2001:db8:0:ffff::3", "2001:db8:1::1"] {
            _ = try proxy.fetch("/feed", "X-Forwarded-For: \(address)", "X-Forwarded-Proto: https")
        }
        #expect(try !isReadable(body, by: proxy))
        _ = try proxy.fetch("/feed", "X-Forwarded-For: 2001:db8:2::1", "X-Forwarded-Proto: https")
        #expect(try isReadable(body, by: proxy))
    }

    @Test func `what a stranger says of its address does not count`() throws {
        let proxy = try TestProxy(
            json(body, "Cache-Control: public"), "trusted_proxies: []\nsecure_transport: assume\n" + link)
        #expect(try fetch(proxy, clients: Array(1...5)) == nil)
        #expect(try !isReadable(body, by: proxy))
    }

    @Test func `three other bodies prove nothing`() throws {
        let number = Guarded(0)
        let origin = try Origin { _, connection in
            let version = number.withLock { number in
                number += 1
                return number
            }
            connection.send(json(Feed.bytes(version: version, items: 40), "Cache-Control: public"))
        }
        let proxy = try TestProxy(origin, link)
        #expect(try fetch(proxy, clients: Array(1...9)) == nil)
        for version in 1...9 {
            #expect(try !isReadable(Feed.bytes(version: version, items: 40), by: proxy))
        }
    }

    // MARK: The request

    @Test(arguments: CredentialNameTests.fields + ["Authorization", "Cookie", "X-Anything", "X-Tenant"])
    func `a request with a field that not everybody sends proves nothing`(name: String) throws {
        let proxy = try TestProxy(json(body, "Cache-Control: public"), link)
        #expect(try fetch(proxy, clients: [1, 2, 3], "/feed", "\(name): secret") == nil)
        #expect(try !isReadable(body, by: proxy))
    }

    @Test(arguments: CredentialNameTests.queryNames)
    func `a request with a credential in its query proves nothing`(name: String) throws {
        let proxy = try TestProxy(json(body, "Cache-Control: public"), link)
        #expect(try fetch(proxy, clients: [1, 2, 3], "/feed?\(name)=secret") == nil)
        #expect(try !isReadable(body, by: proxy))
    }

    @Test func `a credential that no list knows does not lead to another's body`() throws {
        // The upstream identifies users by a private field, and marks the responses public by mistake.
        let origin = try Origin { request, connection in
            let user = request["X-My-Own"] ?? "nobody"
            let page = Array("{\"mail\": \"\(user)@example.org\"}".utf8) + Feed.bytes(version: 0, items: 40)
            connection.send(json(page, "Cache-Control: public"))
        }
        let proxy = try TestProxy(origin, link)
        // Alice roams.
        for client in 1...5 {
            _ = try proxy.fetch("/feed", forwarded(for: client), "X-My-Own: alice")
        }
        let bob = try proxy.fetch("/feed", forwarded(for: 9), "X-My-Own: bob")
        #expect(bob["Link"] == nil)
        let alice = try proxy.fetch("/feed", "X-My-Own: alice").body
        #expect(try !isReadable(alice, by: proxy))
    }

    // MARK: Memory

    @Test func `made-up bodies push out no proof`() {
        var proof = PublicProof()
        let chain = ChainKey(authority: "api.test", match: "/feed")
        let keys = (0..<200).map { number in
            PublicProof.Key(Digest(of: Array("\(number)".utf8).span), chain: chain, variant: "")
        }
        for (number, key) in keys.enumerated() {
            for client in 1...2 { proof.record(key, to: UInt128(1000 * number + client)) }
        }
        for number in 0..<200_000 {
            let made = ChainKey(authority: "h\(number)", match: "/feed")
            proof.record(.init(Body([1]).digest, chain: made, variant: ""), to: 1 << 100)
        }
        for (number, key) in keys.enumerated() { proof.record(key, to: UInt128(1000 * number + 3)) }
        let proven = keys.count { proof.isProven($0) }
        #expect(proven >= 195, "\(proven)")
    }

    @Test func `chains and variants are proven each by itself`() {
        var proof = PublicProof()
        let digest = Body([1]).digest
        let chain = ChainKey(authority: "api.test", match: "/feed")
        for client: UInt128 in 1...3 { proof.record(.init(digest, chain: chain, variant: "a"), to: client) }
        #expect(proof.isProven(.init(digest, chain: chain, variant: "a")))
        #expect(!proof.isProven(.init(digest, chain: chain, variant: "b")))
        let other = ChainKey(authority: "other.test", match: "/feed")
        #expect(!proof.isProven(.init(digest, chain: other, variant: "a")))
    }

    // MARK: Balancers

    private func client(_ address: UInt128?, isNamed: Bool = false) -> LinkClient {
        LinkClient(address: address, isNamed: isNamed)
    }

    @Test(arguments: [("[]", "add its address to trusted_proxies"), ("[loopback]", "have that proxy send")])
    func `the question about a sole client names its route and the setting, and no address`(
        trusted: String, advice: String
    ) throws {
        let proxy = try TestProxy(
            json(body, "Cache-Control: public, max-age=60"),
            "trusted_proxies: \(trusted)\nsecure_transport: assume\n" + link)
        let address = try #require(IPAddress("127.0.0.1")).clientBits()
        let sighting = LinkRegistry.Sighting(
            body: Body(body), chain: ChainKey(authority: "api.test", match: "/feed"), variant: "",
            url: "/feed", keptSeconds: 60, client: LinkClient(address: address, isNamed: false), source: nil)
        // A hundred responses, two minutes ago.
        let before = SystemClock.unixSeconds - 120
        for _ in 0..<100 { _ = proxy.server.context.linkRegistry.record(sighting, now: before) }
        _ = try proxy.fetch("/feed")
        var told: [String] = []
        try waitUntil("the operator is asked") {
            told = proxy.events.withLock { $0.map { "\($0)" } }.filter {
                $0.contains("public responses of late")
            }
            return !told.isEmpty
        }
        #expect(told.count == 1 && told[0].contains("route /*: ") && told[0].contains(advice), "\(told)")
        #expect(!told.joined().contains("127.0.0.1"))
    }

    @Test func `a sole client is asked about after a hundred responses and a minute, once an hour`() {
        var sole = SoleClient()
        var said: [Int] = []
        for second in 0..<8_000 where sole.record(client(1), now: 1_000 + second) { said.append(second) }
        #expect(said == [99, 3_699, 7_299])
    }

    @Test func `with others in between, or a name from a trusted proxy, nothing is asked`() {
        var sole = SoleClient()
        for second in 0..<500 {
            let isTimeToAsk = sole.record(client(second % 50 == 0 ? 2 : 1), now: second)
            #expect(!isTimeToAsk)
        }
        for second in 500..<1_000 {
            let isTimeToAsk = sole.record(client(3, isNamed: true), now: second)
            #expect(!isTimeToAsk)
        }
    }

    @Test func `one busy moment is no reason to ask`() {
        var sole = SoleClient()
        for _ in 0..<10_000 {
            let isTimeToAsk = sole.record(client(1), now: 5)
            #expect(!isTimeToAsk)
        }
    }

    @Test func `trusted proxies that name nobody are no clients`() throws {
        let networks = Configuration().trustedProxies + [try #require(TrustedNetwork("10.0.0.0/8"))]
        func client(_ peer: String, _ field: String? = nil) throws -> LinkClient {
            var headers = Headers()
            if let field { headers.append(.xForwardedFor, field) }
            let address = try #require(IPAddress(peer))
            return ClientPeer(.ip(address, port: 1), trusting: networks).linkClient(headers)
        }
        #expect(try client("10.0.0.1") == .init(address: nil, isNamed: false))
        #expect(try client("10.0.0.1", "garbage") == .init(address: nil, isNamed: false))
        #expect(try client("10.0.0.1", "192.0.2.1").isNamed)
        #expect(try client("10.0.0.1", "192.0.2.1") == client("127.0.0.1", "192.0.2.1, 10.0.0.7"))
        #expect(try client("127.0.0.1").address != nil && !client("127.0.0.1").isNamed)
        #expect(try client("192.0.2.1", "198.51.100.1").address == client("10.0.0.1", "192.0.2.1").address)
    }
}
