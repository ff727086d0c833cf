internal import Foundation
internal import TestSupport
internal import Testing

/// HTTP/2 servers that break off or break the rules: exit code 1, one line, nothing written.
@Suite(.timeLimit(.minutes(40))) struct FetchHTTP2RefusalTests {
    private static let cases: [(path: String, words: String)] = [
        ("/goaway", "the server ended the connection (GOAWAY, ENHANCE_YOUR_CALM)"),
        ("/goaway-and-noise", "the server ended the connection (GOAWAY, ENHANCE_YOUR_CALM)"),
        ("/goaway-unseen", "the server refused the request without processing it; try again"),
        ("/goaway-and-close", "the server closed the connection without a response"),
        ("/goaway-in-body", "the server ended the connection (GOAWAY, INTERNAL_ERROR)"),
        ("/refused", "the server refused the request without processing it; try again"),
        (
            "/only-http1",
            "the server reset the response (HTTP_1_1_REQUIRED); its body was discarded; try again"
        ),
        ("/reset-in-body", "the server reset the response (INTERNAL_ERROR)"),
        ("/reset-without-length", "the server reset the response (NO_ERROR)"),
        ("/cut", "the response was cut off; its body was discarded"),
        ("/too-much", "the response is not valid HTTP/2 (RFC 9113); its body was discarded; try --http1.1"),
        ("/too-little", "the response is not valid HTTP/2"),
        ("/nothing-of-length", "the response is not valid HTTP/2"),
        ("/two-lengths", "the response is not valid HTTP/2"),
        ("/huge", "the response is larger than 268435456 bytes, the limit of fetch"),
        ("/no-status", "the response is not valid HTTP/2"),
        ("/late-status", "the response is not valid HTTP/2"),
        ("/switching", "the response is not valid HTTP/2"),
        ("/upper", "the response is not valid HTTP/2"),
        ("/connection-field", "the response is not valid HTTP/2"),
        ("/big-head", "the response is not valid HTTP: the head is too large"),
        ("/many-fields", "the response is not valid HTTP: the head has too many fields"),
        ("/many-interim", "the response is not valid HTTP: an interim response that was not asked for"),
        ("/endless-interim", "the response is not valid HTTP/2"),
        ("/push", "the response is not valid HTTP/2"),
        ("/data-for-all", "the response is not valid HTTP/2"),
        ("/noise", "the response is not valid HTTP/2"),
    ]

    @Test func `a response that breaks off or breaks a rule is refused whole`() throws {
        let server = try HTTP2Faults()
        let fetching = try Fetching()
        let (file, kept) = ("\(fetching.folder.path)/new", fetching.kept)
        for (path, words) in Self.cases {
            let result = try fetching.run(server.url(path), "--http2-prior-knowledge", "-o", file)
            #expect(result.status == 1, "\(path): \(result.errors)")
            #expect(
                result.errorLines.count == 1 && result.errors.hasPrefix("dictum: \(words)"),
                "\(path): \(result.errors)")
            #expect(result.output.isEmpty && fetching.folder.read("new") == nil, "\(path)")
            #expect(fetching.kept == kept, "\(path)")
        }
        // The same server, client and library with a response that is whole.
        let whole = try fetching.run(server.url("/ok"), "--http2-prior-knowledge")
        #expect(whole.status == 0 && whole.output.count == 100, "\(whole.errors)")
    }

    @Test(arguments: ["/stalled", "/silent"])
    func `a server that sends everything but the response is given up in time`(path: String) throws {
        let server = try HTTP2Faults()
        let result = try Fetching().run(server.url(path), "--http2-prior-knowledge", "--max-time", "1")
        #expect(result.status == 1 && result.output.isEmpty)
        #expect(
            result.errors
                == "dictum: no complete response within 1 s; allow more time with --max-time SECONDS\n")
    }

    @Test func `a push is ignored that began before the server knew that none is wanted`() throws {
        let server = try HTTP2Faults()
        let result = try Fetching().run(server.url("/early-push"), "--http2-prior-knowledge", "-v")
        #expect(result.status == 0 && result.text == String(repeating: "0123456789", count: 10))
        // The address that -v prints may hold the digits of any status in its port.
        #expect(!result.errors.contains("promised"), "\(result.errors)")
        #expect(
            !result.errors.contains("pushed") && !result.errors.contains("HTTP/2 404"), "\(result.errors)")
    }

    @Test func `a server that speaks HTTP/2 alone is no HTTP/1.1 server`() throws {
        let server = try HTTP2Faults()
        let result = try Fetching().run(server.url("/ok"), "--http1.1")
        #expect(result.status == 1 && result.output.isEmpty && result.errorLines.count == 1)
    }
}
