package import Foundation

/// The dictionaries that responses have named and that are still to be fetched, for one user.
///
/// They wait until no request has begun or ended for a while. One that could not be had is not asked for again soon, since
/// every response may name it.
package actor LinkedFetches {
    /// Fetches a URL; returns false if that has failed.
    package typealias Fetch = @Sendable (URL) async -> Bool

    /// Further ones are forgotten.
    private static let waitingMax = 16
    private static let idleSeconds = 0.5
    private static let failedSeconds = 3600.0
    /// Those that failed first are forgotten beyond this.
    private static let failedMax = 64

    private let now: @Sendable () -> Date
    private var waiting: [(url: URL, fetch: Fetch)] = []
    private var failed: [(url: URL, at: Date)] = []
    private var lastUse = Date()
    /// The one that is on its way.
    private var current: Task<Void, Never>?
    private var isRunning = false

    package init(now: @escaping @Sendable () -> Date = { Date() }) { self.now = now }

    /// Notes that a request of the app has begun or ended.
    package func noteUse() { lastUse = Date() }

    /// Has a URL fetched once the app is idle.
    package func add(_ url: URL, fetch: @escaping Fetch) {
        guard waiting.count < Self.waitingMax, !waiting.contains(where: { $0.url == url }) else { return }
        guard !hasFailed(url) else { return }
        waiting.append((url, fetch))
        guard !isRunning else { return }
        isRunning = true
        Task(priority: .background) { await run() }
    }

    /// Fetches all that waits at once, and waits for the one that is on its way.
    package func fetchAll() async {
        while !Task.isCancelled, current != nil || !waiting.isEmpty { await fetchFirst() }
    }

    /// Fetches the first, unless another one is on its way; waits for that.
    private func fetchFirst() async {
        // What another one has begun ends with that one's will alone.
        if let current { return await current.value }
        let task = Task { await fetch(waiting.removeFirst()) }
        current = task
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }

    private func fetch(_ next: (url: URL, fetch: Fetch)) async {
        defer { current = nil }
        // It may have failed since it was added.
        guard !hasFailed(next.url), await !next.fetch(next.url), !Task.isCancelled else { return }
        failed = failed.suffix(Self.failedMax - 1) + [(next.url, now())]
    }

    private func hasFailed(_ url: URL) -> Bool {
        failed.contains {
            // The clock may have been set back.
            $0.url == url && (0..<Self.failedSeconds).contains(now().timeIntervalSince($0.at))
        }
    }

    private func run() async {
        defer { isRunning = false }
        while !waiting.isEmpty {
            // The clock may have been set back.
            let rest = min(Self.idleSeconds, Self.idleSeconds - Date().timeIntervalSince(lastUse))
            if rest > 0 {
                try? await Task.sleep(nanoseconds: UInt64(rest * 1e9))
            } else {
                await fetchFirst()
            }
        }
    }
}
