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
        let pieces = await Pieces(
            response.body, until: deadline, on: connections.client.eventLoopGroup.next())
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
    /// The piece that is waited for.
    private var current: Task<Data?, any Error>?
    private var isLate = false
    /// One for all pieces, and of the loop: a task that sleeps takes memory until its time, even if it is cancelled.
    private var alarm: Scheduled<Void>?

    init(_ body: HTTPClientResponse.Body, until deadline: NIODeadline, on loop: any EventLoop) async {
        rest = body.makeAsyncIterator()
        alarm = loop.scheduleTask(deadline: deadline) { [weak self] in
            Task { await self?.expire() }
        }
    }

    deinit { alarm?.cancel() }

    /// Returns the next piece; throws if it has not come by the deadline, which AsyncHTTPClient itself forgets with the head.
    func next() async throws -> Data? {
        let task = isLate ? nil : Task { try await draw() }
        current = task
        // Without a reader the request is cancelled, and the body may end in silence.
        let piece = await withTaskCancellationHandler {
            await task?.result
        } onCancel: {
            task?.cancel()
        }
        guard let piece, !isLate else { throw HTTPClientError.deadlineExceeded }
        return try piece.get()
    }

    private func expire() {
        isLate = true
        current?.cancel()
    }

    private func draw() async throws -> Data? {
        // An actor's stored property cannot be changed across a suspension.
        var iterator = rest
        defer { rest = iterator }
        return try await iterator.next(isolation: self).map { Data($0.readableBytesView) }
    }
}
#endif
