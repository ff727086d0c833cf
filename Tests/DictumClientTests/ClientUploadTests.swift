import Dictionaries
import DictumClient
import Foundation
import FoundationNetworking
import Primitives
import Testing

/// Bodies of requests as deltas over what was fetched from the same URL.
@Suite struct ClientUploadTests {
    private let folder = ClientFolder()
    private static let announced = [("Cache-Control", "max-age=600"), ("Accept-Encoding", "gzip, dcz")]

    private func put(_ body: Data, method: String = "PUT", _ fields: [(String, String)] = []) -> URLRequest {
        var request = URLRequest(url: feedURL)
        request.httpMethod = method
        request.httpBody = body
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }

    /// Fetches the feed, and then sends the request; returns the requests that the server got for it.
    private func send(
        _ request: URLRequest, after fields: [(String, String)] = announced,
        _ answers: TransportResponse..., options: (inout DictionaryClient.Options) -> Void = { _ in }
    ) async throws -> [URLRequest] {
        var own = DictionaryClient.Options()
        options(&own)
        own.onEvent = { [events = folder.events] event in events.withLock { $0.append(event) } }
        let client = DictionaryClient(
            store: try .persistent(at: folder.url, limit: .mebibytes(8)), options: own)
        let taken = TransportResponse(status: 200, fields: [], body: Data("taken".utf8))
        let server = ScriptedTransport([try response(feed(0), fields)] + answers + [taken])
        _ = try await client.data(from: feedURL, using: server)
        let (body, _) = try await client.data(for: request, using: server)
        #expect(body == Data("taken".utf8))
        return Array(server.requests.dropFirst())
    }

    private func decoded(_ request: URLRequest) throws -> Data {
        let coded = [UInt8](try #require(request.httpBody))
        #expect(coded.starts(with: [0x5e, 0x2a, 0x4d, 0x18, 0x20, 0, 0, 0]))
        return Data(
            try Codec.decode(
                coded.span, .dcz, dictionary: Body([UInt8](feed(0))), limits: DecoderLimits(maxBytes: 1 << 20)
            ))
    }

    @Test(arguments: ["PUT", "POST", "PATCH"])
    func `an upload of what was fetched is a delta where the server announced it`(method: String) async throws
    {
        let length = ("Content-Length", "\(feed(1).count)")
        let sent = try await send(put(feed(1), method: method, [length]))
        #expect(sent.count == 1)
        let request = try #require(sent.first)
        #expect(request.value(forHTTPHeaderField: "Content-Encoding") == "dcz")
        #expect(request.value(forHTTPHeaderField: "Content-Length") == nil, "that of the plain body")
        #expect(request.value(forHTTPHeaderField: "Dictionary-ID") == "\"cap-1\"")
        #expect((request.value(forHTTPHeaderField: "Available-Dictionary") != nil) == (method == "POST"))
        #expect(try decoded(request) == feed(1))
        let figures = try #require(folder.metrics.last)
        #expect(figures.requestBytes * 5 < feed(1).count && !figures.isRetried)
    }

    @Test(arguments: [
        ([("Cache-Control", "max-age=600")], []), (announced + [("Accept-Encoding", "dcz;q=0")], []),
        (announced, [("Content-Encoding", "gzip")]), (announced, [("Content-Digest", "sha-256=:AAAA:")]),
        (announced, [("Dictionary-ID", "\"mine\"")]),
        (announced, [("Content-Range", "bytes 0-9/100")]), (announced, [("Content-MD5", "AAAA")]),
        (announced, [("Repr-Digest", "sha-256=:AAAA:")]), (announced, [("Digest", "sha-256=AAAA")]),
    ])
    func `without the announcement, or with fields about the bytes, the body is plain`(
        given: [(String, String)], own: [(String, String)]
    ) async throws {
        let sent = try await send(put(feed(1), own), after: given)
        #expect(sent.map(\.httpBody) == [feed(1)])
    }

    @Test func `the app can forbid it, and what is not shorter is plain`() async throws {
        #expect(try await send(put(feed(1))) { $0.codesUploads = false }.map(\.httpBody) == [feed(1)])
        #expect(try await send(put(Data("x".utf8))).map(\.httpBody) == [Data("x".utf8)])
    }

    @Test(arguments: ["PUT", "POST"])
    func `after a 415 the plain body is sent once, and the dictionary is gone`(method: String) async throws {
        let refusal = TransportResponse(
            status: 415, fields: [("Accept-Encoding", "dcz")], body: Data("unknown".utf8))
        let sent = try await send(put(feed(1), method: method), refusal)
        #expect(sent.count == 2 && sent.last?.httpBody == feed(1))
        for name in ["Content-Encoding", "Dictionary-ID", "Available-Dictionary"] {
            #expect(sent.last?.value(forHTTPHeaderField: name) == nil)
        }
        #expect(folder.metrics.last?.isRetried == true)
        #expect(folder.files(endingIn: ".dictum.json").isEmpty)
    }

    @Test func `an upload is coded over the latest of what was fetched there`() async throws {
        let client = try folder.client()
        let answers = try ["/feed", "/f*"].enumerated().map { number, match in
            try response(feed(number), Self.announced, match: match)
        }
        let taken = TransportResponse(status: 200, fields: [], body: Data())
        let server = ScriptedTransport(answers + [taken])
        for _ in 0..<2 { _ = try await client.data(from: feedURL, using: server) }
        _ = try await client.data(for: put(feed(2)), using: server)
        let coded = [UInt8](try #require(server.requests.last?.httpBody))
        // RFC 9842 section 5: the digest of the dictionary follows the eight bytes of the frame's head.
        #expect(coded.dropFirst(8).prefix(32).elementsEqual(Digest(of: [UInt8](feed(1)).span).bytes))
    }

    @Test func `a second 415 is the app's`() async throws {
        let refusal = TransportResponse(status: 415, fields: [], body: Data("taken".utf8))
        let sent = try await send(put(feed(1)), refusal, refusal)
        #expect(sent.count == 2)
        #expect(folder.files(endingIn: ".dictum.json").count == 1, "the refusal names no coding")
    }

    @Test func `a redirect takes the plain body along`() async throws {
        let away = TransportResponse(
            status: 307, fields: [("Location", "https://other.test/feed")], body: Data())
        let sent = try await send(put(feed(1)), away)
        #expect(sent.count == 2 && sent.last?.httpBody == feed(1))
        #expect(sent.last?.value(forHTTPHeaderField: "Content-Encoding") == nil)
    }
}
