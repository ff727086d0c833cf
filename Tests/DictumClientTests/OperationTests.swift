import Dictionaries
import DictumClient
import Foundation
import FoundationNetworking
import Testing

/// Requests with content, and the operations of one URL.
@Suite struct OperationTests {
    private let folder = ClientFolder()

    private func request(_ method: String = "POST") -> URLRequest {
        var request = URLRequest(url: feedURL)
        request.httpMethod = method
        request.httpBody = Data("{}".utf8)
        return request
    }

    @Test func `each operation of a URL has a dictionary of its own, also after a restart`() async throws {
        let server = ScriptedTransport([
            try response(feed(0)), try response(feed(50)), try response(feed(1), coding: .dcz, over: feed(0)),
            try response(feed(51), coding: .dcz, over: feed(50)), try response(feed(2)),
        ])
        for (operation, version) in [("Feed", 0), ("Profile", 50), ("Feed", 1), ("Profile", 51), (nil, 2)] {
            let (body, _) = try await folder.client().data(
                for: request(), operation: operation, using: server)
            #expect(body == feed(version))
        }
        #expect(server.named == [nil, nil, name(of: feed(0)), name(of: feed(50)), nil])
        #expect(server.requests.allSatisfy { $0.value(forHTTPHeaderField: "If-None-Match") == nil })
    }

    @Test func `a POST is not sent again after a delta that does not decode`() async throws {
        let client = try folder.client()
        let broken = try response(feed(1), coding: .dcz, over: feed(7))
        let server = ScriptedTransport([try response(feed(0)), broken])
        _ = try await client.data(for: request(), using: server)
        await #expect(throws: DictionaryClientError.self) {
            try await client.data(for: request(), using: server)
        }
        #expect(server.requests.count == 2)
        let (body, _) = try await client.data(
            for: request(), using: ScriptedTransport([try response(feed(3))]))
        #expect(body == feed(3), "its dictionary is gone")
    }

    @Test(arguments: [("GET", true), ("POST", false), ("QUERY", false)])
    func `no heuristic makes a response to content a dictionary`(method: String, isKept: Bool) async throws {
        let fields = [("Last-Modified", "Sat, 01 Nov 2025 10:00:00 GMT")]
        let server = ScriptedTransport([try response(feed(0), fields)])
        _ = try await folder.client().data(for: request(method), using: server)
        #expect(folder.metrics.map(\.isKept) == [isKept])
    }

    @Test(arguments: ["POST", "QUERY"])
    func `no GET asks whether a response to content is current, but it is a dictionary`(method: String)
        async throws
    {
        let fields = [("Cache-Control", "max-age=600"), ("ETag", "\"a\"")]
        let server = ScriptedTransport { request in
            switch request.value(forHTTPHeaderField: "If-None-Match") {
            case nil where request.httpMethod != "GET": try response(feed(0), fields)
            case nil: try response(feed(1), coding: .dcz, over: feed(0))
            default: TransportResponse(status: 304, fields: [("ETag", "\"a\"")], body: Data())
            }
        }
        let client = try folder.client()
        _ = try await client.data(for: request(method), using: server)
        #expect(try await client.data(from: feedURL, using: server).0 == feed(1))
    }

    @Test func `a PUT passes as it is`() async throws {
        let server = ScriptedTransport([try response(feed(0))])
        for _ in 0..<2 { _ = try await folder.client().data(for: request("PUT"), using: server) }
        #expect(server.named == [nil, nil])
    }
}
