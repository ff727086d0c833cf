package import Foundation

/// The dictionaries that responses have named and that are still to be fetched, for one user.
///
/// They wait until no request has begun or ended for a while.
package actor LinkedFetches {
    /// Further ones are forgotten.
    private static let waitingMax = 16
    private static let idleSeconds = 0.5

    private var waiting: [(url: URL, fetch: @Sendable (URL) async -> Void)] = []
    private var lastUse = Date()
    private var isRunning = false

    /// Notes that a request of the app has begun or ended.
    package func noteUse() { lastUse = Date() }

    /// Has a URL fetched once the app is idle.
    package func add(_ url: URL, fetch: @escaping @Sendable (URL) async -> Void) {
        guard waiting.count < Self.waitingMax, !waiting.contains(where: { $0.url == url }) else { return }
        waiting.append((url, fetch))
        guard !isRunning else { return }
        isRunning = true
        Task(priority: .background) { await run() }
    }

    /// Fetches all that waits at once.
    package func fetchAll() async {
        while !waiting.isEmpty {
            let next = waiting.removeFirst()
            await next.fetch(next.url)
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
                let next = waiting.removeFirst()
                await next.fetch(next.url)
            }
        }
    }
}
