internal import Dictionaries
internal import Foundation
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let first = Feed.bytes(version: 0, items: 40)
private let second = Feed.bytes(version: 1, items: 40)
private let ann = "Authorization: Bearer ann"
private let bob = "Authorization: Bearer bob"

/// Tests the settings about ids, and their explanations.
@Suite(.timeLimit(.minutes(40))) struct CapabilitySettingsTests: CapabilitySuite {
    // MARK: Settings

    @Test(arguments: ["personal: off", "routes: [{match: /*, dictionary: {personal: off}}]"])
    func `personal off keeps personal responses from dictionaries, and nothing else`(settings: String) throws
    {
        let proxy = try proxy(settings)
        let personal = try proxy.fetch("/feed", over: first, ann, accept: "dcz, gzip")
        #expect(personal.coding == "gzip")
        #expect(personal["Use-As-Dictionary"] == nil)
        #expect(personal["Dictum-Explain"]?.contains("reason=personal") == true)
        #expect(proxy.server.context.store.statistics.versions == 0)
        _ = try proxy.fetch("/feed")
        #expect(try proxy.fetch("/feed", over: first, Self.next).coding == "dcz")
        #expect(try proxy.fetch("/feed", over: first, ann, Self.next).coding == "identity")
    }

    /// As on a full disk: the folder is there and may be written, and no file can be made in it.
    @Test
    func
        `where no key can be made, personal dictionaries last until the next start, and nothing else is lost`()
        throws
    {
        let file = "/proc/dictum-\(UUID().uuidString).key"
        let proxy = try TestProxy(
            Origin(json(first, "Cache-Control: private")), change: { $0.store.keyFile = file })
        #expect(proxy.events.withLock { $0 }.contains { "\($0)".contains("last until the next start") })
        #expect(try proxy.fetch("/feed", ann).carries(first))
        #expect(throws: (any Error).self) {
            try TestProxy(
                Origin(json(first)),
                "routes: [{match: /*, dictionary: {scope: private, identity: [authorization]}}]",
                change: { $0.store.keyFile = file })
        }
    }

    @Test func `a route may have capabilities where all others have none`() throws {
        let proxy = try proxy(
            "personal: off\nroutes: [{match: /feed, dictionary: {personal: capability}}, {match: /*}]")
        _ = try proxy.fetch("/feed", ann)
        #expect(try proxy.fetch("/feed", over: first, ann, Self.next).coding == "dcz")
        #expect(try proxy.fetch("/other", ann)["Use-As-Dictionary"] == nil)
    }

    @Test func `no-store is obeyed, unless the route says otherwise`() throws {
        let settings = "routes: [{match: /a, dictionary: {store_despite: [no-store]}}, {match: /*}]"
        let proxy = try TestProxy(
            Origin { request, connection in
                connection.send(
                    json(request["X-Version"] == nil ? first : second, "Cache-Control: no-cache, no-store"))
            }, settings)
        for (path, coding) in [("/a", "dcz"), ("/b", "identity")] {
            let offered = try proxy.fetch(path)["Use-As-Dictionary"]
            #expect((offered != nil) == (coding == "dcz"))
            #expect(try proxy.fetch(path, over: first, Self.next).coding == coding)
        }
        #expect(
            try proxy.fetch("/a", "Cache-Control: no-store")["Use-As-Dictionary"] == nil,
            "the client's own wish")
    }

    @Test func `a route's private cache_control is for personal responses, too`() throws {
        let value = "private, max-age=600"
        let settings = "routes: [{match: /*, dictionary: {cache_control: \"\(value)\"}}]"
        for (field, asked) in [
            ("Cache-Control: no-cache", ann), ("Cache-Control: private", "X-C: 1"),
            ("Set-Cookie: a=b", "X-C: 1"),
            ("Cache-Control: max-age=0", "Cookie: session=1"), ("X-A: 1", "X-C: 1"),
        ] {
            let proxy = try TestProxy(
                wire("HTTP/1.1 200 OK", "Content-Type: application/json", field, body: first), settings)
            let answer = try proxy.fetch("/feed", asked)
            #expect(answer.values("Cache-Control") == [value])
            #expect(try !offer(answer).id.isEmpty)
        }
        for field in ["Cache-Control: no-store", "Cache-Control: no-transform"] {
            let kept = try TestProxy(json(first, field), settings).fetch("/feed", ann)
            #expect(kept.values("Cache-Control").map { "Cache-Control: \($0)" } == [field])
        }
        let off = try TestProxy(
            json(first, "Cache-Control: no-cache"),
            settings.replacingLast("dictionary: {", "dictionary: {personal: off, "))
        #expect(try off.fetch("/feed", ann)["Cache-Control"] == "no-cache")
    }

    @Test func `the route's own public cache_control makes a response for everybody`() throws {
        let proxy = try TestProxy(
            ownResponse(first),
            #"routes: [{match: "/*", dictionary: {cache_control: "public, max-age=60", delivery: in_band}}]"#)
        #expect(try proxy.fetch("/feed")["Use-As-Dictionary"] == #"match="/feed""#)
        #expect(try proxy.fetch("/feed", over: first).coding == "dcz")
        #expect(try offer(proxy.fetch("/feed", ann)).id.utf8.count == 22, "never a personal one")
    }

    @Test func `what needs an id is never named in a Link`() throws {
        let proxy = try proxy("routes: [{match: /*, dictionary: {delivery: link}}]")
        for asked in [ann, "X-C: 1"] {
            let answer = try proxy.fetch("/feed", asked)
            #expect(answer["Link"] == nil)
            #expect(try offer(answer).id.utf8.count == 22)
        }
    }

    @Test func `a private route asks for the identity and for the id`() throws {
        let proxy = try proxy(
            "routes: [{match: /*, dictionary: {scope: private, identity: authorization, private_versions: 4}}]"
        )
        let id = try offer(proxy.fetch("/feed", ann)).id
        let other = try offer(proxy.fetch("/feed", bob)).id
        for (user, sent, coding) in [
            (ann, id, "dcz"), (bob, other, "dcz"), (ann, other, "identity"), (bob, id, "identity"),
            (ann, "", "identity"),
        ] {
            let answer = try proxy.fetch("/feed", over: first, user, Self.next, "Dictionary-ID: \"\(sent)\"")
            #expect(answer.coding == coding)
        }
    }

    @Test func `an upstream's own offer has no id, so that it serves for everybody alone`() throws {
        let field = #"Use-As-Dictionary: match="/f*""#
        let closed = try proxy("", field)
        #expect(try closed.fetch("/feed", ann)["Use-As-Dictionary"] == #"match="/f*""#)
        #expect(try closed.fetch("/feed", over: first, ann, Self.next).coding == "identity")
        let open = try TestProxy(json(first, field))
        _ = try open.fetch("/feed")
        #expect(try open.fetch("/feed", over: first).coding == "dcz")
    }

    // MARK: Explanations

    @Test func `neither digest nor id is in an explanation`() throws {
        let proxy = try proxy()
        for asked in [ann, "X-C: 1"] {
            let id = try offer(proxy.fetch("/feed", asked)).id
            let text = try #require(
                try proxy.fetch("/feed", over: first, asked, Self.next, "Dictionary-ID: \"\(id)\"")[
                    "Dictum-Explain"])
            #expect(text.hasPrefix("dcz;reason=delta;from="))
            #expect(!text.contains("dictionary="))
        }
    }

    @Test func `a second holder of the same bytes is not told of the first`() throws {
        let proxy = try proxy()
        for asked in [ann, bob] { _ = try proxy.fetch("/feed", asked) }
        for asked in [ann, bob, ann] {
            let answer = try proxy.fetch("/feed", over: first, asked, Self.next)
            #expect(answer["Dictum-Explain"]?.hasPrefix("dcz;reason=delta;") == true)
        }
    }
}

extension String {
    /// The text with the last occurrence of another replaced.
    fileprivate func replacingLast(_ text: String, _ replacement: String) -> String {
        guard let range = range(of: text, options: .backwards) else { return self }
        return replacingCharacters(in: range, with: replacement)
    }
}
