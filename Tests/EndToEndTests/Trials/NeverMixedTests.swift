internal import Dictionaries
internal import Foundation
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

/// Only the authority and identity that a body was stored for may use it, before and after a restart.
@Suite(.timeLimit(.minutes(40))) struct NeverMixedTests {
    /// A client, by all that tells it from others.
    struct Client: CustomTestStringConvertible {
        let host: String
        let path: String
        var user: String?

        var testDescription: String { "\(user ?? "anybody") at \(host)\(path)" }
        var fields: [String] { user.map { ["Authorization: Bearer \($0)-s3cret"] } ?? [] }
    }

    static let clients = [
        Client(host: "a.test", path: "/feed"), Client(host: "b.test", path: "/feed"),
        Client(host: "a.test", path: "/linked"), Client(host: "a.test", path: "/me", user: "ann"),
        Client(host: "a.test", path: "/me", user: "bob"), Client(host: "b.test", path: "/me", user: "ann"),
    ]

    private static let stored = Feed.bytes(version: 0, items: 60)
    private static let next = Feed.bytes(version: 1, items: 60)
    private static let settings = """
        explain: true
        routes:
          - match: /me
            dictionary: {scope: private, identity: authorization}
          - match: /linked
            dictionary: {delivery: link}
          - match: /*
            dictionary: {delivery: in_band}
        """

    private let folder: TemporaryFolder
    /// The ids that clients were given, by their names.
    private let ids = Guarded<[String: String]>([:])

    init() throws { folder = try TemporaryFolder() }

    /// A proxy before an upstream that gives everybody the same.
    private func served() throws -> ServedProxy {
        let origin = try Origin { request, connection in
            let isLooking = request.target.hasSuffix("?once")
            connection.send(
                wire(
                    "HTTP/1.1 200 OK", "Content-Type: application/json",
                    "Cache-Control: \(isLooking ? "no-store" : "public, max-age=3600")",
                    body: isLooking ? Self.next : Self.stored))
        }
        return try ServedProxy(origin, in: folder, Self.settings)
    }

    /// Has clients fetch the body that is to be stored.
    private func serve(_ owners: [Client], by proxy: ServedProxy) throws {
        let socket = try WireSocket(port: proxy.port)
        for owner in owners {
            let answer = try socket.get(owner.path, owner.fields, host: owner.host)
            try #require(answer.body == Self.stored)
            let offer = answer["Use-As-Dictionary"].flatMap { UseAsDictionary.parse([$0]) }
            if let id = offer?.id, !id.isEmpty { ids.withLock { $0[owner.testDescription] = id } }
        }
    }

    /// Returns the response to a client that advertises a body.
    private func ask(_ proxy: ServedProxy, _ client: Client, _ coding: String, over body: [UInt8]) throws
        -> WireMessage
    {
        let socket = try WireSocket(port: proxy.port)
        // Clients without an id send that of another client.
        let id = ids.withLock { $0[client.testDescription] ?? $0.values.first }
        func ask() throws -> WireMessage {
            let fields =
                [
                    "Accept-Encoding: \(coding), gzip",
                    "Available-Dictionary: :\(Digest(of: body.span).base64):",
                ] + (id.map { ["Dictionary-ID: \"\($0)\""] } ?? [])
            return try socket.get(client.path + "?once", fields + client.fields, host: client.host)
        }
        var answer = try ask()
        try waitUntil("the dictionary is read from disk") {
            guard answer["Dictum-Explain"]?.contains("dictionary-cold") == true else { return true }
            answer = try ask()
            return false
        }
        return answer
    }

    /// Returns a response without the parts that differ from request to request.
    private func likeness(_ answer: WireMessage) -> [String] {
        answer.fields.filter { $0.name != "Date" }.map { name, value in
            "\(name): \(name == "Dictum-Explain" ? String(value.prefix { $0 != ";" }) : value)"
        } + ["\(answer.body)"]
    }

    /// Expects deltas for owners, and exactly the response to an unknown digest for all others.
    private func expectNoMixing(_ proxy: ServedProxy, owners: [Int], _ comment: Comment) throws {
        var deltas: [ForeignJudge.Answer] = []
        // Owners come last, so that no other client finds a body that was read from disk for them.
        for number in Self.clients.indices.filter({ !owners.contains($0) }) + owners {
            let client = Self.clients[number]
            for coding in ["dcz", "dcb"] {
                var answer = try ask(proxy, client, coding, over: Self.stored)
                if owners.contains(number) {
                    // A body that is not read from disk in time is left out of the response.
                    try waitUntil("\(client.testDescription) gets \(coding)") {
                        if answer["Content-Encoding"] != coding {
                            answer = try ask(proxy, client, coding, over: Self.stored)
                        }
                        return answer["Content-Encoding"] == coding
                    }
                    deltas.append(
                        ForeignJudge.Answer(
                            name: client.testDescription, coding: answer["Content-Encoding"] ?? "none",
                            dictionary: Self.stored, wire: answer.body, body: Self.next))
                } else {
                    let stranger = try ask(proxy, client, coding, over: Noise.bytes(5_000, seed: 1))
                    #expect(likeness(answer) == likeness(stranger), comment)
                }
            }
        }
        #expect(deltas.count == owners.count * 2)
        #expect(try ForeignJudge().faults(of: deltas) == [], comment)
    }

    @Test(arguments: clients.indices)
    func `what one client's answer left is of use to no other, restarted or not`(owner: Int) throws {
        let proxy = try served()
        try serve([Self.clients[owner]], by: proxy)
        try expectNoMixing(proxy, owners: [owner], "as it runs")
        #expect(try proxy.process.terminate().status == 0)
        try expectNoMixing(try served(), owners: [owner], "after a restart")
    }

    @Test func `all with the same body have their own, restarted or not`() throws {
        let proxy = try served()
        try serve(Self.clients, by: proxy)
        try expectNoMixing(proxy, owners: Array(Self.clients.indices), "as it runs")
        #expect(try proxy.process.terminate().status == 0)
        try expectNoMixing(try served(), owners: Array(Self.clients.indices), "after a restart")
    }

    @Test func `a Link leads to its dictionary on its own authority only, and none to a private one`() throws
    {
        var proxy = try served()
        try serve(Self.clients, by: proxy)
        for number in 1...3 {
            let fields = ["X-Forwarded-For: 203.0.113.\(number)", "X-Forwarded-Proto: https"]
            _ = try WireSocket(port: proxy.port).get("/linked", fields, host: "a.test")
        }
        for _ in 0..<2 {
            let socket = try WireSocket(port: proxy.port)
            for client in Self.clients where client.path != "/linked" {
                #expect(try socket.get(client.path, client.fields, host: client.host)["Link"] == nil)
            }
            let link = try #require(try socket.get("/linked", host: "a.test")["Link"])
            let path = try #require(link.firstMatch(of: /<(\/\.dictum\/[^>]+)>/).map { String($0.output.1) })
            #expect(try socket.get(path, host: "a.test").body == Self.stored)
            #expect(try socket.get(path, host: "b.test").status == 404)
            // The name of the body in another chain: of that one nothing is named.
            #expect(try socket.get(path, host: "a.test:81").status == 404)
            #expect(try proxy.process.terminate().status == 0)
            proxy = try served()
        }
    }

    @Test func `neither metrics nor logs nor the list of the store name what is private`() throws {
        let proxy = try served()
        let users = Self.clients.filter { $0.user != nil }
        try serve(users, by: proxy)
        _ = try ask(proxy, users[0], "dcz", over: Self.stored)
        let list = try RunningProcess.run([
            "store", "list", "--json", "--config", "\(folder.path)/dictum.yaml",
        ])
        #expect(list.status == 0, "\(list.errors)")
        let metrics = try proxy.metrics()
        let result = try proxy.process.terminate()
        let digest = Digest(of: Self.stored.span)
        for text in ["s3cret", digest.base64, digest.base64URL, digest.hex] {
            for said in [metrics, list.text, result.text, result.errors] { #expect(!said.contains(text)) }
        }
    }
}
