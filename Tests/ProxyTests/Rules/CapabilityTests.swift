internal import Dictionaries
internal import Foundation
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let first = Feed.bytes(version: 0, items: 40)
private let second = Feed.bytes(version: 1, items: 40)
private let ann = "Authorization: Bearer ann"
private let bob = "Authorization: Bearer bob"

/// The upstream of tests about ids: it responds with `first`, or `second` to requests with `X-Version: 1`.
protocol CapabilitySuite {}

extension CapabilitySuite {
    static var next: String { "X-Version: 1" }

    func proxy(_ settings: String = "", _ fields: String...) throws -> TestProxy {
        let field = fields.joined(separator: "\r\n")
        return try TestProxy(
            Origin { request, connection in
                connection.send(
                    ownResponse(
                        request["X-Version"] == nil ? first : second, field.isEmpty ? "X-A: 1" : field))
            }, "explain: true\n" + settings)
    }

    func offer(_ answer: WireMessage) throws -> UseAsDictionary {
        let field = try #require(answer["Use-As-Dictionary"], "\(answer)")
        return try #require(UseAsDictionary.parse([field]))
    }
}

/// Returns the wire bytes of a response without fields that mark it as public or private.
func ownResponse(_ body: [UInt8], _ fields: String...) -> [UInt8] {
    json(body, (["X-Origin: 1", "Cache-Control: max-age=60"] + fields).joined(separator: "\r\n"))
}

/// Dictionaries for the clients that received them, which prove that by an id.
@Suite(.timeLimit(.minutes(40))) struct CapabilityTests: CapabilitySuite {
    // MARK: Clients with the dictionary

    @Test(arguments: [
        ("", ""), ("Vary: Cookie", ""), ("Vary: Cookie", "Cookie: session=1"), ("", "Cookie: session=1"),
        ("", "Authorization: Bearer x"), ("Vary: Accept, Authorization", "Authorization: Bearer x"),
        ("Cache-Control: private", ""), ("Set-Cookie: csrftoken=1; Path=/", ""), ("", "X-Api-Key: k"),
        ("Vary: X-Api-Key", ""), ("Set-Cookie: AWSALB=1", "Cookie: AWSALB=0; session=1"),
    ])
    func `whoever was given a response gets the next one as a delta over it`(field: String, asked: String)
        throws
    {
        let proxy = try proxy("", field.isEmpty ? "X-B: 1" : field)
        let sent = asked.isEmpty ? "X-C: 1" : asked
        let given = try proxy.fetch("/feed", sent)
        let id = try offer(given).id
        #expect(id.utf8.count == 22)
        for coding in ["dcz", "dcb"] {
            let answer = try proxy.fetch("/feed", over: first, sent, Self.next, accept: coding)
            #expect(answer.coding == coding)
            #expect(try answer.carriesDecoded(second, over: first))
            #expect(answer.members("Vary").contains("dictionary-id"))
            #expect(answer["CDN-Cache-Control"] == "no-store")
            if let again = answer["Use-As-Dictionary"].flatMap({ UseAsDictionary.parse([$0]) }) {
                #expect(again.id.utf8.count == 22 && again.id != id)
            }
        }
    }

    @Test func `a token that rotates keeps its deltas, and so does one who logs in or out`() throws {
        let proxy = try proxy()
        var held = first
        _ = try proxy.fetch("/feed", "Authorization: Bearer 0")
        for turn in 1..<20 {
            let next = turn % 2 == 1 ? second : first
            let field = turn % 5 == 0 ? "X-A: 1" : "Authorization: Bearer \(turn / 3)"
            let answer = try proxy.fetch("/feed", over: held, field, turn % 2 == 1 ? Self.next : "X-C: 1")
            #expect(answer.coding == "dcz")
            #expect(try answer.carriesDecoded(next, over: held))
            // A client that would gain little by another dictionary keeps the one that it has.
            if answer["Use-As-Dictionary"] != nil { held = next }
        }
    }

    @Test func `the same bytes have one version and one id, whoever holds them`() throws {
        let proxy = try proxy()
        let ids = try [ann, bob, "Cookie: s=1", "Cookie: s=2"].map {
            try offer(proxy.fetch("/feed?x=\($0.utf8.count)", $0)).id
        }
        #expect(Set(ids).count == 1)
        #expect(proxy.server.context.store.statistics.versions == 1)
        #expect(try proxy.fetch("/feed", over: first, bob, Self.next).coding == "dcz")
    }

    // MARK: Clients without the dictionary

    /// Returns the parts of a response that a client sees, except those that differ in every response.
    private func seen(_ answer: WireMessage) -> String {
        let fields = answer.fields.filter { !["date", "x-request-id"].contains($0.name.lowercased()) }.map {
            let value = $0.value.split(separator: ";").filter { !$0.hasPrefix("micros=") }.joined(
                separator: ";")
            return "\($0.name): \(value)"
        }
        return ([answer.startLine] + fields + ["\(answer.body.count) bytes"]).joined(separator: "\n")
    }

    @Test(arguments: ["", "Authorization: Bearer eve", "Cookie: session=eve"])
    func `without the right id a digest that others hold is as good as unknown`(asked: String) throws {
        let sent = asked.isEmpty ? "X-C: 1" : asked
        let unknown = Noise.bytes(12_000, seed: 1)
        for owner in [ann, "X-C: 1"] {
            let proxy = try proxy()
            let id = try offer(proxy.fetch("/feed", owner)).id
            let own = try offer(proxy.fetch("/other", sent)).id
            _ = try proxy.fetch("/feed", sent, Self.next)
            var answers: [String] = []
            for body in [unknown, first] {
                for field in [
                    "X-D: 1", #"Dictionary-ID: """#, #"Dictionary-ID: "AAAAAAAAAAAAAAAAAAAAAA""#,
                    "Dictionary-ID: \"\(own)\"", "Dictionary-ID: \(id)", "Dictionary-ID: \"\(id)x\"",
                    "Dictionary-ID: \"\(id.lowercased())\"",
                ] {
                    let client = try proxy.connect()
                    let fields = ["Accept-Encoding: dcz, dcb, gzip", available(body), sent, Self.next, field]
                    client.send(request("/feed", fields))
                    answers.append(seen(try client.receive()))
                }
            }
            #expect(Set(answers).count == 1)
            #expect(answers[0].contains("reason=dictionary-unknown"))
        }
    }

    /// RFC 9111 section 5.2.2.10: for shared caches such a response is over at once.
    @Test(arguments: ["Cookie: session=1", ann])
    func `what only the client's own cache may keep is not for everybody`(asked: String) throws {
        let proxy = try proxy("", "Cache-Control: max-age=60, s-maxage=0")
        let id = try offer(proxy.fetch("/feed", asked)).id
        #expect(id.utf8.count == 22)
        for field in ["X-D: 1", "Dictionary-ID: \"\(id)\""] {
            let client = try proxy.connect()
            client.send(
                request("/feed", ["Accept-Encoding: dcz", available(first), asked, Self.next, field]))
            let answer = try client.receive()
            #expect(answer.coding == (field == "X-D: 1" ? "identity" : "dcz"))
            #expect(answer["Dictum-Explain"]?.contains("reason=dictionary-unknown") == (field == "X-D: 1"))
        }
    }

    @Test func `an id is good at its own path and authority alone, with any query`() throws {
        let proxy = try proxy()
        for asked in [ann, "X-C: 1"] {
            let id = try offer(proxy.fetch("/feed", asked)).id
            func coding(_ target: String, host: String = "api.test") throws -> String {
                try proxy.fetch(
                    target, over: first, asked, Self.next, "Dictionary-ID: \"\(id)\"", accept: "dcz",
                    host: host
                ).coding
            }
            #expect(try coding("/feed") == "dcz")
            #expect(try coding("/feed?page=2") == "dcz")
            #expect(try coding("/feed2") == "identity")
            #expect(try coding("/feed/") == "identity")
            #expect(try coding("/feed", host: "other.test") == "identity")
        }
    }

    @Test(arguments: ["pattern", "/app/<name>.*.js", "url"])
    func `a personal response covers no more than its own URL, whatever the route covers`(covers: String)
        throws
    {
        let proxy = try proxy(
            "routes: [{match: \"/app/:name.:hash.js\", dictionary: {covers: \"\(covers)\", delivery: in_band}}]"
        )
        let answer = try proxy.fetch("/app/main.1.js?a=b", ann)
        #expect(try offer(answer).match == "/app/main.1.js?a=b")
        #expect(try proxy.fetch("/app/main.1.js?a=b", over: first, ann, Self.next).coding == "dcz")
        #expect(try proxy.fetch("/app/main.1.js", over: first, ann, Self.next).coding == "identity")
        #expect(try proxy.fetch("/app/main.2.js?a=b", over: first, ann, Self.next).coding == "identity")
    }

    @Test func `what is for everybody needs no id, has none, and is coded over nothing personal`() throws {
        let origin = try Origin { request, connection in
            let body = request["X-Version"] == nil ? first : second
            connection.send(
                request["X-Public"] == nil
                    ? ownResponse(body) : json(body, "Cache-Control: public, max-age=60"))
        }
        let proxy = try TestProxy(origin)
        let given = try proxy.fetch("/feed", ann)
        #expect(try !offer(given).id.isEmpty)
        let open = try proxy.fetch("/feed", over: first, ann, Self.next, "X-Public: 1")
        #expect(open.coding == "identity")
        #expect(open["Use-As-Dictionary"] == #"match="/feed""#)
        #expect(open.members("Vary") == ["accept-encoding", "available-dictionary"])
        #expect(
            try proxy.fetch("/feed", over: second, ann).coding == "dcz", "what everybody may hold serves all")
        #expect(try proxy.fetch("/feed", over: second, "X-Public: 1").coding == "dcz")
    }

    @Test(arguments: [("same-origin", true), ("none", true), ("same-site", false), ("cross-site", false)])
    func `a personal dictionary is used and offered for pages of its own origin only`(
        site: String, isUsed: Bool
    )
        throws
    {
        let proxy = try proxy("", "Access-Control-Allow-Origin: *")
        _ = try proxy.fetch("/feed", ann)
        let answer = try proxy.fetch(
            "/feed", over: first, ann, Self.next, "Sec-Fetch-Site: \(site)", "Sec-Fetch-Mode: cors",
            "Origin: https://page.test")
        #expect((answer.coding == "dcz") == isUsed)
        let offered = try proxy.fetch(
            "/feed", ann, "Sec-Fetch-Site: \(site)", "Sec-Fetch-Mode: cors", "Origin: https://page.test")
        #expect((offered["Use-As-Dictionary"] != nil) == isUsed)
        if !isUsed { #expect(answer["Dictum-Explain"]?.contains("reason=cross-origin") == true) }
    }

    // MARK: 304

    /// Returns a proxy whose upstream sends every client the same entity tag, and responds to it with 304.
    private func tagged() throws -> TestProxy {
        try TestProxy(
            Origin { request, connection in
                let fields = [#"ETag: "v1""#, "Cache-Control: private, max-age=60"]
                if request["If-None-Match"] != nil {
                    connection.send(wire((["HTTP/1.1 304 Not Modified"] + fields).joined(separator: "\r\n")))
                } else {
                    connection.send(
                        json(
                            request["Authorization"] == "Bearer ann" ? first : second,
                            fields.joined(separator: "\r\n")))
                }
            })
    }

    @Test func `a personal 304 repeats the id that the request sent, and never another`() throws {
        let proxy = try tagged()
        let id = try offer(proxy.fetch("/feed", ann)).id
        _ = try proxy.fetch("/feed", bob)
        let tag = #"If-None-Match: "v1""#
        #expect(try proxy.fetch("/feed", bob, tag)["Use-As-Dictionary"] == nil)
        #expect(try proxy.fetch("/feed", bob, tag, available(first))["Use-As-Dictionary"] == nil)
        #expect(
            try proxy.fetch("/feed", bob, tag, available(first), #"Dictionary-ID: "AAAAAAAAAAAAAAAAAAAAAA""#)[
                "Use-As-Dictionary"] == nil)
        let again = try proxy.fetch("/feed", ann, tag, available(first), "Dictionary-ID: \"\(id)\"")
        #expect(again.status == 304)
        #expect(try offer(again).id == id)
        #expect(again.members("Vary").contains("dictionary-id"))
    }

    @Test func `a 304 that stands for a personal response brings no id that was not sent`() throws {
        // The upstream ignores the condition, and gives another body under the same tag.
        let proxy = try TestProxy(
            Origin { request, connection in
                connection.send(
                    ownResponse(request["Authorization"] == "Bearer ann" ? first : second, #"ETag: "v1""#))
            })
        let id = try offer(proxy.fetch("/feed", ann)).id
        let tag = #"If-None-Match: "v1""#
        let other = try proxy.fetch("/feed", bob, tag)
        #expect(other.status == 304)
        #expect(other["Use-As-Dictionary"] == nil)
        let same = try proxy.fetch("/feed", ann, tag, available(first), "Dictionary-ID: \"\(id)\"")
        #expect(same.status == 304)
        #expect(try offer(same).id == id)
    }

    // MARK: Bodies that go through piece by piece

    @Test(arguments: [ann, "X-C: 1"])
    func `a body that is offered before it is whole has an id, too`(asked: String) throws {
        let large = Feed.bytes(version: 0, items: 850)
        let origin = try Origin { _, connection in
            let head = wire(
                "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: max-age=60",
                "Transfer-Encoding: chunked")
            connection.send(head + chunk(Array(large.prefix(100_000))))
            pauseBeyondTheHold()
            connection.send(chunk(Array(large.dropFirst(100_000))) + chunk([]))
        }
        let proxy = try TestProxy(origin)
        let answer = try proxy.fetch("/feed", asked)
        #expect(answer.carries(large))
        let id = try offer(answer).id
        #expect(id.utf8.count == 22)
        let delta = try proxy.fetch("/feed", over: large, asked, accept: "dcz")
        #expect(delta.coding == "dcz")
        #expect(try delta.carriesDecoded(large, over: large))
        #expect(
            try proxy.fetch("/feed", over: large, asked, #"Dictionary-ID: "x""#, accept: "dcz").coding
                == "identity")
        #expect(
            try proxy.fetch("/other", over: large, asked, "Dictionary-ID: \"\(id)\"", accept: "dcz").coding
                == "identity")
    }
}
