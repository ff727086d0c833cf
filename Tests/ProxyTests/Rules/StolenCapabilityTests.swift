internal import Dictionaries
internal import Foundation
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let secret = "tok_9f86d081884c7d65"

/// Tests what a thief can read with a stolen digest and id, which are credentials.
@Suite(.timeLimit(.minutes(40))) struct StolenCapabilityTests {
    /// Returns a proxy whose upstream shows the victim its secret, and echoes every client's search.
    private func proxy(_ settings: String = "") throws -> TestProxy {
        try TestProxy(
            Origin { request, connection in
                let query = request.target.split(separator: "=", maxSplits: 1).last.map(String.init) ?? ""
                let isVictim = request["Authorization"] == "Bearer ann"
                connection.send(
                    json(
                        Self.body(searched: isVictim ? "" : query, secret: isVictim ? secret : ""),
                        "Cache-Control: private, max-age=60"))
            }, "explain: true\n" + settings)
    }

    private static func body(searched: String, secret: String) -> [UInt8] {
        Feed.bytes(version: 0, items: 30) + Array(#"{"searched":"\#(searched)","token":"\#(secret)"}"#.utf8)
    }

    private static let held = body(searched: "", secret: secret)

    /// Sends a request with the stolen digest and id and the thief's own token.
    private func steal(
        _ proxy: TestProxy, _ target: String, id: String?, _ fields: String..., host: String = "api.test",
        coding: String = "dcz"
    ) throws -> WireMessage {
        let socket = try proxy.connect()
        var sent = ["Authorization: Bearer eve", "Accept-Encoding: \(coding)", available(Self.held)] + fields
        if let id { sent.append("Dictionary-ID: \"\(id)\"") }
        socket.send(request(target, sent, host: host))
        return try socket.receive()
    }

    private func givenToVictim(_ proxy: TestProxy, _ target: String = "/search?q=") throws -> String {
        let answer = try proxy.fetch(target, "Authorization: Bearer ann")
        return try #require(answer["Use-As-Dictionary"].flatMap { UseAsDictionary.parse([$0]) }).id
    }

    @Test(arguments: ["dcz", "dcb"])
    func `with both, and a response that reflects what the thief chooses, sizes tell the secret`(
        coding: String
    )
        throws
    {
        let proxy = try proxy()
        let id = try givenToVictim(proxy)
        func size(_ guess: String) throws -> Int {
            let answer = try steal(proxy, "/search?q=\(guess)", id: id, coding: coding)
            #expect(answer.coding == coding, "the response to the thief, coded over the victim's body")
            #expect(try answer.carriesDecoded(Self.body(searched: guess, secret: ""), over: Self.held))
            return answer.body.count
        }
        let wrong = try (0..<8).map { number in
            var random = SplitMix(seed: UInt64(number))
            return try size("tok_" + String(random.next() | 1 << 63, radix: 16))
        }
        let right = try size(secret)
        #expect(right < (wrong.min() ?? 0), "this is what remains: \(right) bytes against \(wrong)")
    }

    @Test func `each of both alone is of no use, and nothing tells that it was half right`() throws {
        let proxy = try proxy()
        let id = try givenToVictim(proxy)
        let unknown = Base64.encodeURL(Noise.bytes(16, seed: 3))
        for stolen in [nil, unknown, String(id.reversed())] {
            let answer = try steal(proxy, "/search?q=\(secret)", id: stolen)
            #expect(answer.coding == "identity")
            #expect(answer["Dictum-Explain"]?.contains("reason=dictionary-unknown") == true)
        }
        let socket = try proxy.connect()
        socket.send(
            request(
                "/search?q=\(secret)",
                [
                    "Authorization: Bearer eve", "Accept-Encoding: dcz",
                    available(Noise.bytes(9_000, seed: 4)), "Dictionary-ID: \"\(id)\"",
                ]))
        #expect(try socket.receive().coding == "identity")
    }

    @Test(arguments: [
        ("/search/?q=", "api.test", "X-A: 1"), ("/echo?q=", "api.test", "X-A: 1"),
        ("/search?q=", "other.test", "X-A: 1"),
        ("/search?q=", "api.test", "Sec-Fetch-Site: cross-site"),
        ("/search?q=", "api.test", "Sec-Fetch-Site: same-site"),
    ])
    func `they open no other path or authority, and nothing for pages of another origin`(
        target: String, host: String, field: String
    ) throws {
        let proxy = try proxy()
        let id = try givenToVictim(proxy)
        let answer = try steal(proxy, target + secret, id: id, field, host: host)
        #expect(answer.coding == "identity")
        #expect(try steal(proxy, "/search?q=" + secret, id: id).coding == "dcz", "so that this could fail")
    }

    @Test(arguments: [
        "routes: [{match: /*, dictionary: {covers: url}}]", "routes: [{match: /*, dictionary: off}]",
        "routes: [{match: /*, dictionary: {personal: off}}]", "personal: off",
    ])
    func `routes that mix secrets and reflected text can be closed to it`(settings: String) throws {
        let proxy = try proxy(settings)
        let answer = try proxy.fetch("/search?q=", "Authorization: Bearer ann")
        let id = answer["Use-As-Dictionary"].flatMap { UseAsDictionary.parse([$0])?.id }
        #expect(
            try steal(proxy, "/search?q=" + secret, id: id ?? "AAAAAAAAAAAAAAAAAAAAAA").coding == "identity")
    }

    @Test func `with an identity a stolen pair is of no use to another`() throws {
        let proxy = try proxy(
            "routes: [{match: /*, dictionary: {scope: private, identity: authorization, delivery: in_band}}]")
        let id = try givenToVictim(proxy)
        #expect(try steal(proxy, "/search?q=" + secret, id: id).coding == "identity")
    }
}
