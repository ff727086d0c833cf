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
                arrivals.withLock { $0.draw(continuation) }
                settle(task)
            }
        } onCancel: {
            task.cancel()
        }
    }

    /// Lets a task rest or go on, as what waits for the app demands.
    ///
    /// One thread at a time does, and looks again afterwards: if the session suspended and the app resumed at the same moment, the
    /// task could rest for ever.
    private func settle(_ task: URLSessionTask) {
        while let rests = arrivals.withLock({ $0.beginChange() }) {
            if rests { task.suspend() } else { task.resume() }
            arrivals.withLock { $0.endChange() }
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
        let isFirst = arrivals.withLock { $0.takeHead(response) }
        // A task that starts over after a rest would deliver the beginning of the body twice.
        if !isFirst { arrivals.withLock { $0.end(URLError(.networkConnectionLost)) } }
        completionHandler(isFirst ? .allow : .cancel)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        arrivals.withLock { $0.take(data) }
        settle(dataTask)
    }

    /// Keeps a body out of the system's cache, whose bodies stay after a log-out, and which other requests would get coded.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        completionHandler(nil)
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
struct Arrivals: Sendable {
    private var headWaiter: CheckedContinuation<URLResponse, any Error>?
    private var waiter: CheckedContinuation<Data?, any Error>?
    private var pieces: [Data] = []
    private var heldBytes = 0
    private var hasHead = false
    private var mustRest = false
    /// True if the task was last told to rest.
    private var isResting = false
    private var isChanging = false
    private var result: Result<Data?, any Error>?

    mutating func awaitHead(_ continuation: CheckedContinuation<URLResponse, any Error>) {
        // A task that is cancelled may end before it was resumed.
        switch result {
        case .failure(let error): continuation.resume(throwing: error)
        case .success: continuation.resume(throwing: DictionaryClientError.notHTTP)
        case nil: headWaiter = continuation
        }
    }

    /// Takes the head; returns false if there was one already.
    mutating func takeHead(_ response: URLResponse) -> Bool {
        defer { hasHead = true }
        headWaiter?.resume(returning: response)
        headWaiter = nil
        return !hasHead
    }

    mutating func take(_ piece: Data) {
        if let waiter {
            self.waiter = nil
            return waiter.resume(returning: piece)
        }
        pieces.append(piece)
        heldBytes += piece.count
        if heldBytes > SessionReceiver.heldBytesMax { mustRest = true }
    }

    /// Returns whether the task has to rest from now on; nil if it does already, or another caller is about to tell it.
    mutating func beginChange() -> Bool? {
        guard !isChanging, mustRest != isResting else { return nil }
        (isChanging, isResting) = (true, mustRest)
        return mustRest
    }

    /// Notes that the task was told; it may have to be told otherwise by now.
    mutating func endChange() { isChanging = false }

    mutating func end(_ error: (any Error)?) {
        guard self.result == nil else { return }
        let result: Result<Data?, any Error> = error.map { .failure($0) } ?? .success(nil)
        self.result = result
        headWaiter?.resume(throwing: error ?? DictionaryClientError.notHTTP)
        waiter?.resume(with: result)
        (headWaiter, waiter) = (nil, nil)
    }

    /// Gives the next piece, now or when it comes.
    mutating func draw(_ continuation: CheckedContinuation<Data?, any Error>) {
        if !pieces.isEmpty {
            let piece = pieces.removeFirst()
            heldBytes -= piece.count
            continuation.resume(returning: piece)
        } else if let result {
            continuation.resume(with: result)
        } else {
            waiter = continuation
        }
        if heldBytes <= SessionReceiver.heldBytesMax / 2 { mustRest = false }
    }
}
