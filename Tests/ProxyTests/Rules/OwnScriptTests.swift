internal import TestSupport
internal import Testing

@testable import Proxy

/// The script of Dictum's own that pages include, as a browser and the caches on its way get it.
@Suite(.timeLimit(.minutes(40))) struct OwnScriptTests {
    private static let path = "/.dictum/own.js"

    private func proxy() throws -> TestProxy { try TestProxy(json([0x7b, 0x7d])) }

    @Test func `it is a script that caches keep for a day, and that no other site may include`() throws {
        let proxy = try proxy()
        let answer = try proxy.fetch(Self.path)
        #expect(answer.status == 200 && answer.isWhole)
        #expect(answer.text.hasPrefix("\"use strict\";"))
        #expect(answer["Content-Type"] == "text/javascript; charset=utf-8")
        #expect(answer["Cache-Control"] == "public, max-age=86400")
        #expect(answer["X-Content-Type-Options"] == "nosniff")
        #expect(answer["Cross-Origin-Resource-Policy"] == "same-origin")
        #expect(proxy.origin.requests.isEmpty)
    }

    @Test func `who holds it is told so without a body`() throws {
        let proxy = try proxy()
        let tag = try #require(proxy.fetch(Self.path)["ETag"])
        for held in [tag, "W/\(tag)", "\"other\", \(tag)", "*"] {
            let answer = try proxy.fetch(Self.path, "If-None-Match: \(held)")
            #expect(answer.status == 304 && answer.body.isEmpty, "\(held)")
            #expect(answer["ETag"] == tag && answer["Cache-Control"] == "public, max-age=86400")
        }
        #expect(try proxy.fetch(Self.path, "If-None-Match: \"other\"").status == 200)
    }

    @Test func `HEAD has its fields, and no other method has it`() throws {
        let proxy = try proxy()
        let answer = try proxy.fetch(Self.path, method: "HEAD")
        #expect(answer.status == 200 && answer.body.isEmpty)
        #expect(try answer["ETag"] == proxy.fetch(Self.path)["ETag"])
        for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
            #expect(try proxy.fetch(Self.path, method: method, body: []).status == 404, "\(method)")
        }
        #expect(proxy.origin.requests.isEmpty)
    }
}
