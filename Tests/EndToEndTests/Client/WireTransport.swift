internal import DictumClient
internal import Dispatch
internal import Foundation
internal import FoundationNetworking
internal import Primitives
internal import TestSupport

/// The plainest transport: one connection per request, without TLS, to this machine.
struct WireTransport: Transport {
    let decodedCodings: [String] = []

    func send(_ request: URLRequest) async throws -> TransportResponse {
        try await withCheckedThrowingContinuation { continuation in
            // The socket blocks, and the threads of tasks must not.
            DispatchQueue.global().async {
                continuation.resume(
                    with: Result {
                        let message = try exchange(request)
                        return TransportResponse(
                            status: message.status, fields: message.fields, body: Data(message.body))
                    })
            }
        }
    }

    /// Sends a request and returns the whole response; blocking.
    func exchange(_ request: URLRequest) throws -> WireMessage {
        guard let url = request.url, let port = url.port.flatMap({ UInt16(exactly: $0) }) else {
            throw URLError(.badURL)
        }
        let socket = try WireSocket(port: port)
        let fields = (request.allHTTPHeaderFields ?? [:]).map { "\($0.key): \($0.value)\r\n" }.joined()
        let host = "Host: 127.0.0.1:\(port)\r\nConnection: close\r\n"
        let target = url.path + (url.query.map { "?\($0)" } ?? "")
        let body = request.httpBody.map { [UInt8]($0) }
        let length = body.map { "Content-Length: \($0.count)\r\n" } ?? ""
        let line = "\(request.httpMethod ?? "GET") \(target) HTTP/1.1\r\n"
        socket.send(Array((line + host + fields + length + "\r\n").utf8) + (body ?? []))
        let message = try socket.receive()
        guard message.isWhole else { throw URLError(.networkConnectionLost) }
        return message
    }
}

/// Opens the store of a client in a folder, as a new process of its app would; the client's figures go into `metrics`.
func openClient(
    in folder: TemporaryFolder, _ metrics: Guarded<[FetchMetrics]>,
    _ change: (inout DictionaryClient.Options) -> Void = { _ in }
) throws -> DictionaryClient {
    var options = DictionaryClient.Options()
    options.onEvent = { event in
        if case .finished(let figures) = event { metrics.withLock { $0.append(figures) } }
    }
    change(&options)
    let store = URL(fileURLWithPath: "\(folder.path)/client")
    return DictionaryClient(store: try .persistent(at: store, limit: .mebibytes(8)), options: options)
}
