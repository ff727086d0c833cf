#if AsyncHTTPClient
internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1

#if canImport(FoundationNetworking)
internal import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// A transport over AsyncHTTPClient, whose bodies arrive piece by piece and as they were sent; for Linux and for servers.
///
/// The package's trait `AsyncHTTPClient` brings it. All requests share one pool of connections.
public struct AsyncHTTPTransport: Transport {
    private let connections: Connections
    private let seconds: Int64

    /// Makes a transport; a request without its whole response after so many seconds is an error.
    public init(timeoutSeconds: Int = 60) {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.decompression = .disabled
        connections = Connections(HTTPClient(configuration: configuration))
        seconds = Int64(timeoutSeconds)
    }

    /// Waits until all connections are closed, after the last request.
    ///
    /// A transport that nobody uses any more closes them by itself.
    public func shutdown() async throws { try await connections.client.shutdown() }

    /// None: bodies come as they were sent.
    public var decodedCodings: [String] { [] }

    /// Sends a request with its body.
    public func send(_ request: URLRequest) async throws -> TransportResponse {
        guard let url = request.url else { throw DictionaryClientError.notHTTP }
        var message = HTTPClientRequest(url: url.absoluteString)
        message.method = HTTPMethod(rawValue: request.httpMethod ?? "GET")
        for (name, value) in request.allHTTPHeaderFields ?? [:] {
            message.headers.add(name: name, value: value)
        }
        if let body = request.httpBody { message.body = .bytes(ByteBuffer(bytes: body)) }
        let deadline = NIODeadline.now() + .seconds(seconds)
        let response = try await connections.client.execute(message, deadline: deadline)
        let pieces = Pieces(response.body, until: deadline)
        return TransportResponse(
            status: Int(response.status.code),
            fields: response.headers.map { (name: $0.name, value: $0.value) },
            nextPiece: { try await pieces.next() })
    }
}

/// The connections of a transport and its copies; they are closed with the last one.
private final class Connections: Sendable {
    let client: HTTPClient

    init(_ client: HTTPClient) { self.client = client }

    // A client that is released without this ends the program. It lives on until its connections are closed.
    deinit { client.shutdown { _ in } }
}

/// The rest of a body. Its reader asks for one piece at a time.
private actor Pieces {
    private var rest: HTTPClientResponse.Body.AsyncIterator
    private let deadline: NIODeadline

    init(_ body: HTTPClientResponse.Body, until deadline: NIODeadline) {
        rest = body.makeAsyncIterator()
        self.deadline = deadline
    }

    /// Returns the next piece; throws if it has not come by the deadline, which AsyncHTTPClient itself forgets with the head.
    func next() async throws -> Data? {
        let left = (deadline - .now()).nanoseconds
        return try await withThrowingTaskGroup(of: Data?.self) { group in
            // The first one ends the other; without a reader the request is cancelled.
            defer { group.cancelAll() }
            group.addTask { try await self.draw() }
            group.addTask {
                try await Task.sleep(nanoseconds: UInt64(max(0, left)))
                throw HTTPClientError.deadlineExceeded
            }
            return try await group.next() ?? nil
        }
    }

    private func draw() async throws -> Data? {
        // An actor's stored property cannot be changed across a suspension.
        var iterator = rest
        defer { rest = iterator }
        return try await iterator.next(isolation: self).map { Data($0.readableBytesView) }
    }
}
#endif
