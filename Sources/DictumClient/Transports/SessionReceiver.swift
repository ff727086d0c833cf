internal import Foundation
internal import Primitives

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The delegate of one task of a session, which hands over the head, and then the body as the app draws it.
///
/// It refuses redirects, which the client follows itself: a dictionary must not be named to another origin.
final class SessionReceiver: NSObject, URLSessionDataDelegate, Sendable {
    /// The task rests while more bytes than this wait for the app, so that a slow app slows the server down.
    static let heldBytesMax = 1 << 20

    private let arrivals = Guarded(Arrivals())

    /// Starts a task of which this is the delegate, and returns the response once its head is there.
    ///
    /// The task is cancelled if the caller's is, and once nobody can draw the rest of the body.
    func response(of task: URLSessionDataTask) async throws -> TransportResponse {
        try Task.checkCancellation()
        let head = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                arrivals.withLock { $0.awaitHead(continuation) }
                task.resume()
            }
        } onCancel: {
            task.cancel()
        }
        let body = SessionBody(self, task)
        return try Self.response(of: head, body: { try await body.next() })
    }

    /// Makes a response of what a session returns.
    static func response(
        of head: URLResponse, body: @escaping @Sendable () async throws -> Data?
    ) throws -> TransportResponse {
        guard let head = head as? HTTPURLResponse else { throw DictionaryClientError.notHTTP }
        let fields = head.allHeaderFields.map { (name: "\($0.key)", value: "\($0.value)") }
        return TransportResponse(status: head.statusCode, fields: fields, nextPiece: body)
    }

    fileprivate func next(of task: URLSessionDataTask) async throws -> Data? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let mayGoOn = arrivals.withLock { $0.draw(continuation) }
                if mayGoOn { task.resume() }
            }
        } onCancel: {
            task.cancel()
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        arrivals.withLock { $0.takeHead(response) }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let mustRest = arrivals.withLock { $0.take(data) }
        if mustRest { dataTask.suspend() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        arrivals.withLock { $0.end(error) }
    }
}

/// The right to draw the rest of a body; the task ends with it.
private final class SessionBody: Sendable {
    private let receiver: SessionReceiver
    private let task: URLSessionDataTask

    init(_ receiver: SessionReceiver, _ task: URLSessionDataTask) {
        (self.receiver, self.task) = (receiver, task)
    }

    deinit { task.cancel() }

    func next() async throws -> Data? { try await receiver.next(of: task) }
}

/// The part of a response that has come, and the callers that wait for more; each continuation is resumed once.
private struct Arrivals: Sendable {
    private var headWaiter: CheckedContinuation<URLResponse, any Error>?
    private var waiter: CheckedContinuation<Data?, any Error>?
    private var pieces: [Data] = []
    private var heldBytes = 0
    private var isResting = false
    private var result: Result<Data?, any Error>?

    mutating func awaitHead(_ continuation: CheckedContinuation<URLResponse, any Error>) {
        // A task that is cancelled may end before it was resumed.
        switch result {
        case .failure(let error): continuation.resume(throwing: error)
        case .success: continuation.resume(throwing: DictionaryClientError.notHTTP)
        case nil: headWaiter = continuation
        }
    }

    mutating func takeHead(_ response: URLResponse) {
        headWaiter?.resume(returning: response)
        headWaiter = nil
    }

    /// Takes a piece; returns true if the task has to rest.
    mutating func take(_ piece: Data) -> Bool {
        if let waiter {
            self.waiter = nil
            waiter.resume(returning: piece)
            return false
        }
        pieces.append(piece)
        heldBytes += piece.count
        guard heldBytes > SessionReceiver.heldBytesMax, !isResting else { return false }
        isResting = true
        return true
    }

    mutating func end(_ error: (any Error)?) {
        let result: Result<Data?, any Error> = error.map { .failure($0) } ?? .success(nil)
        self.result = result
        headWaiter?.resume(throwing: error ?? DictionaryClientError.notHTTP)
        waiter?.resume(with: result)
        (headWaiter, waiter) = (nil, nil)
    }

    /// Gives the next piece, now or when it comes; returns true if a resting task may go on.
    mutating func draw(_ continuation: CheckedContinuation<Data?, any Error>) -> Bool {
        if !pieces.isEmpty {
            let piece = pieces.removeFirst()
            heldBytes -= piece.count
            continuation.resume(returning: piece)
        } else if let result {
            continuation.resume(with: result)
        } else {
            waiter = continuation
        }
        guard isResting, heldBytes <= SessionReceiver.heldBytesMax / 2 else { return false }
        isResting = false
        return true
    }
}
