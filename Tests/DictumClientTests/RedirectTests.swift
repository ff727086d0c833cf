import Dictionaries
import DictumClient
import Foundation
import FoundationNetworking
import Testing

/// Redirects that the client follows on behalf of the app.
@Suite struct RedirectTests {
    private let folder = ClientFolder()

    @Test func `a redirect in a coding is followed without its body`() async throws {
        let server = ScriptedTransport([
            TransportResponse(
                status: 302, fields: [("Location", "/feed"), ("Content-Encoding", "gzip")], body: Data()),
            try response(feed(0)),
        ])
        #expect(try await folder.client().data(from: feedURL, using: server).0 == feed(0))
    }

    @Test(arguments: [(303, "PUT", "GET"), (302, "POST", "GET"), (307, "POST", "POST")])
    func `a redirect takes the content along only where its method stays`(
        status: Int, method: String, next: String
    ) async throws {
        let server = ScriptedTransport([
            TransportResponse(status: status, fields: [("Location", "/other")], body: Data()),
            try response(feed(0), match: nil),
        ])
        var request = URLRequest(url: feedURL)
        (request.httpMethod, request.httpBody) = (method, Data("{}".utf8))
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        _ = try await folder.client().data(for: request, using: server)
        let last = server.requests[1]
        #expect(last.httpMethod == next && last.url?.path == "/other")
        #expect(last.httpBody == (next == "GET" ? nil : Data("{}".utf8)))
        #expect((last.value(forHTTPHeaderField: "Content-Type") == nil) == (next == "GET"))
    }

    @Test func `a redirect to another origin takes along neither dictionary nor credentials`() async throws {
        let client = try folder.client()
        let server = ScriptedTransport([
            try response(feed(0)),
            TransportResponse(status: 302, fields: [("location", "https://other.test/feed")], body: Data()),
            try response(feed(1), match: nil),
        ])
        var request = URLRequest(url: feedURL)
        for (name, value) in [("Authorization", "Bearer x"), ("X-API-Key", "x"), ("Accept", "text/x")] {
            request.setValue(value, forHTTPHeaderField: name)
        }
        _ = try await client.data(for: request, using: server)
        let (body, head) = try await client.data(for: request, using: server)
        #expect(body == feed(1) && head.url?.absoluteString == "https://other.test/feed")
        #expect(server.named == [nil, name(of: feed(0)), nil])
        for name in ["Authorization", "X-API-Key", "Dictionary-ID"] {
            #expect(server.requests[2].value(forHTTPHeaderField: name) == nil)
        }
        #expect(server.requests[2].value(forHTTPHeaderField: "Accept") == "text/x")
    }

    @Test func `redirects without an end are an error`() async throws {
        let server = ScriptedTransport([
            TransportResponse(status: 302, fields: [("location", "/feed")], body: Data())
        ])
        let client = try folder.client()
        await #expect(throws: DictionaryClientError.self) {
            try await client.data(from: feedURL, using: server)
        }
        #expect(server.requests.count == 51)
    }
}
