internal import Dictionaries
internal import DictumClient
internal import Foundation
internal import FoundationNetworking
internal import Primitives
internal import TestSupport
internal import Testing

/// The client of apps against `dictum serve` in front of a GraphQL server from PyPI (Ariadne): three operations, one URL.
@Suite(
    .enabled(if: GalleryTests.isInstalled, "the GraphQL server comes from PyPI, which is out of reach"),
    .timeLimit(.minutes(40)))
struct OperationThroughProxyTests {
    private static let gallery = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Gallery").standardizedFileURL.path
    private static let queries = [
        "Products": "query Products {products{id name description price stock}}",
        "Featured": "query Featured {featured{id sku name description tags}}",
        "Inbox": "query Inbox {inbox{id secret note}}",
    ]

    private let folder: TemporaryFolder
    private let server: RunningProcess
    private let proxy: ServedProxy
    private let metrics = Guarded<[FetchMetrics]>([])

    init() throws {
        folder = try TemporaryFolder()
        try folder.write(Array("0".utf8), to: "tick")
        server = try RunningProcess(
            ["-B", "graphql_shop.py"], of: "\(Self.gallery)/../../.build/gallery/bin/python",
            in: "\(Self.gallery)/applications", environment: ["GALLERY_TICK": "\(folder.path)/tick"])
        let url = try server.waitFor("http://").trimmingCharacters(in: .whitespacesAndNewlines)
        proxy = try ServedProxy(
            Origin(wire("HTTP/1.1 404 Not Found", body: [])), in: folder,
            """
            routes:
            - match: /graphql
              dictionary: {methods: [POST], key: [operationName], cache_control: "private, max-age=600"}
            """, upstream: "{urls: [\"\(url)\"]}")
    }

    /// Asks for an operation as a user; returns the text, which must not have a line of another user.
    private func ask(_ operation: String, as user: String) async throws -> FetchMetrics {
        var request = URLRequest(url: try #require(URL(string: proxy.url("/graphql"))))
        request.httpMethod = "POST"
        request.httpBody = try JSONEncoder().encode(
            ["operationName": operation, "query": try #require(Self.queries[operation])])
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.setValue("Bearer \(user).00000000", forHTTPHeaderField: "Authorization")
        let (body, head) = try await openClient(in: folder, metrics).forUser(user).data(
            for: request, operation: operation, using: WireTransport())
        #expect(head.statusCode == 200)
        // The digest is the application's own, of the body as it sent it.
        #expect(head.value(forHTTPHeaderField: "X-Gallery-Digest") == Body([UInt8](body)).digest.hex)
        for other in ["alice", "bob"] where other != user {
            #expect(!String(decoding: body, as: UTF8.self).contains("\(other)-"))
        }
        return try #require(metrics.withLock { $0 }.last)
    }

    @Test func `from each operation's second request on deltas come, for two users that never share`()
        async throws
    {
        defer { server.stop() }
        for round in 0..<4 {
            try folder.write(Array("\(round)".utf8), to: "tick")
            for operation in Self.queries.keys.sorted() {
                for user in ["alice", "bob"] {
                    let figures = try await ask(operation, as: user)
                    #expect((figures.coding == "dcz") == (round > 0), "\(operation) \(round) \(figures)")
                    // A client with a good dictionary is offered no other.
                    if round == 0 { #expect(figures.isKept) }
                    if round > 0 { #expect(figures.wireBytes * 5 < figures.bodyBytes) }
                }
            }
        }
    }
}
