import Foundation
import FoundationNetworking
import Primitives
import Testing

@testable import DictumClient

/// The bodies of a session, piece by piece.
///
/// Foundation on Linux asks the delegate of a session where others ask that of a task.
@Suite(.serialized, .timeLimit(.minutes(40))) struct SessionReceiverTests {
    private let receiver = SessionReceiver()

    private func task() -> URLSessionDataTask {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [PiecewiseProtocol.self]
        let session = URLSession(configuration: configuration, delegate: receiver, delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        return session.dataTask(with: feedURL)
    }

    private func body(of response: TransportResponse) async throws -> [Data] {
        var pieces: [Data] = []
        while let piece = try await response.nextPiece() { pieces.append(piece) }
        return pieces
    }

    @Test func `the head comes before the body, and each piece as it arrived`() async throws {
        PiecewiseProtocol.steps.withLock { $0 = [.piece(feed(0)), .piece(feed(1))] }
        let response = try await receiver.response(of: task())
        #expect(response.status == 200 && response.lines("x-test") == ["1"])
        #expect(try await body(of: response) == [feed(0), feed(1)])
    }

    @Test func `a body that breaks off throws what the session says`() async throws {
        PiecewiseProtocol.steps.withLock { $0 = [.piece(feed(0)), .failure] }
        let response = try await receiver.response(of: task())
        await #expect(throws: URLError.self) { _ = try await body(of: response) }
    }

    @Test func `a failure before the head throws`() async throws {
        PiecewiseProtocol.steps.withLock { $0 = [.failureWithoutHead] }
        let receiver = receiver
        await #expect(throws: URLError.self) { _ = try await receiver.response(of: task()) }
    }

    @Test(arguments: [true, false])
    func `a task that has ended before anybody waits for its head throws`(isFailure: Bool) async throws {
        PiecewiseProtocol.steps.withLock { $0 = [.head] }
        let (receiver, task) = (receiver, task())
        let error = isFailure ? URLError(.cancelled) : nil
        receiver.urlSession(.shared, task: task, didCompleteWithError: error)
        await #expect(throws: (any Error).self) { _ = try await receiver.response(of: task) }
        task.cancel()
    }

    @Test func `a cancelled task of the app starts none of the session`() async throws {
        let (receiver, task) = (receiver, task())
        let (starts, start) = AsyncStream<Void>.makeStream()
        let waiting = Task {
            for await _ in starts {}
            return try await receiver.response(of: task)
        }
        waiting.cancel()
        start.finish()
        await #expect(throws: CancellationError.self) { _ = try await waiting.value }
        #expect(task.state == .suspended)
        task.cancel()
    }

    @Test func `the task rests while more waits than may be held, and goes on once the app has drawn it`()
        async throws
    {
        let piece = Data(repeating: 0x20, count: 300 << 10)
        PiecewiseProtocol.steps.withLock { $0 = [.head] }
        let task = task()
        let response = try await receiver.response(of: task)
        // This Foundation starts the protocol over.
        PiecewiseProtocol.steps.withLock { $0 = [.silence] }
        for count in 1...4 {
            receiver.urlSession(.shared, dataTask: task, didReceive: piece)
            #expect((task.state == .suspended) == (count == 4))
        }
        #expect(try await response.nextPiece() == piece && task.state == .suspended)
        for _ in 0..<2 { #expect(try await response.nextPiece() == piece) }
        #expect(task.state == .running)
        task.cancel()
    }

    @Test func `of two that change a task at once, one does, and looks again`() async throws {
        var arrivals = Arrivals()
        arrivals.take(Data(repeating: 0x20, count: SessionReceiver.heldBytesMax + 1))
        #expect(arrivals.beginChange() == true, "the session is about to suspend")
        let waiting = Guarded(arrivals)
        _ = try await withCheckedThrowingContinuation { next in waiting.withLock { $0.draw(next) } }
        arrivals = waiting.withLock { $0 }
        #expect(arrivals.beginChange() == nil, "the app must not resume before that")
        arrivals.endChange()
        #expect(arrivals.beginChange() == false, "the session does it afterwards")
        arrivals.endChange()
        #expect(arrivals.beginChange() == nil)
    }

    @Test func `a task that starts over is a body that breaks off, since its beginning came before`()
        async throws
    {
        PiecewiseProtocol.steps.withLock { $0 = [.head] }
        let task = task()
        let response = try await receiver.response(of: task)
        receiver.urlSession(.shared, dataTask: task, didReceive: feed(0))
        let again = try #require(
            HTTPURLResponse(url: feedURL, statusCode: 200, httpVersion: nil, headerFields: nil))
        let dispositions = Guarded<[URLSession.ResponseDisposition]>([])
        receiver.urlSession(.shared, dataTask: task, didReceive: again) { disposition in
            dispositions.withLock { $0.append(disposition) }
        }
        receiver.urlSession(.shared, task: task, didCompleteWithError: nil)
        #expect(dispositions.withLock { $0 } == [.cancel])
        await #expect(throws: URLError.self) { _ = try await body(of: response) }
        task.cancel()
    }

    @Test func `cancelling the app's task cancels that of the session, also in the middle of a body`()
        async throws
    {
        PiecewiseProtocol.steps.withLock { $0 = [.head] }
        let (receiver, task) = (receiver, task())
        let (heads, came) = AsyncStream<Void>.makeStream()
        let waiting = Task {
            let response = try await receiver.response(of: task)
            came.yield()
            return try await response.nextPiece()
        }
        for await _ in heads { break }
        waiting.cancel()
        await #expect(throws: (any Error).self) { try await waiting.value }
    }

    @Test func `the system's cache keeps nothing`() throws {
        let head = try #require(
            HTTPURLResponse(url: feedURL, statusCode: 200, httpVersion: nil, headerFields: nil))
        let kept = Guarded<[CachedURLResponse?]>([])
        let delegate: any URLSessionDataDelegate = receiver
        delegate.urlSession(
            .shared, dataTask: task(), willCacheResponse: CachedURLResponse(response: head, data: feed(0))
        ) { response in kept.withLock { $0.append(response) } }
        #expect(kept.withLock { $0 } == [nil])
    }

    @Test func `a body that nobody can draw any more ends its task`() async throws {
        PiecewiseProtocol.steps.withLock { $0 = [.head] }
        let task = task()
        do { _ = try await receiver.response(of: task) }
        #expect(task.state == .canceling || task.state == .completed)
    }
}

/// Does what it is told.
private final class PiecewiseProtocol: URLProtocol {
    enum Step { case head, piece(Data), failure, failureWithoutHead, silence }

    static let steps = Guarded<[Step]>([])

    override class func canInit(with request: URLRequest) -> Bool { true }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        let steps = Self.steps.withLock { $0 }
        if case .failureWithoutHead? = steps.first { return fail() }
        if case .silence? = steps.first { return }
        if let head = HTTPURLResponse(
            url: feedURL, statusCode: 200, httpVersion: nil, headerFields: ["X-Test": "1"])
        {
            client?.urlProtocol(self, didReceive: head, cacheStoragePolicy: .notAllowed)
        }
        for step in steps {
            switch step {
            case .piece(let data): client?.urlProtocol(self, didLoad: data)
            case .failure: return fail()
            case .head, .failureWithoutHead, .silence: return
            }
        }
        client?.urlProtocolDidFinishLoading(self)
    }

    private func fail() { client?.urlProtocol(self, didFailWithError: URLError(.networkConnectionLost)) }

    override func stopLoading() {}
}
