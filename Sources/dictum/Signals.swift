internal import Foundation
internal import Glibc

/// The signals that end the program or have it read its configuration again, taken by one thread at a time.
///
/// Blocked in every thread, so before the first is started. Not a Dispatch signal source: under the thread
/// sanitizer that never fires.
enum Signals {
    /// What a signal asks for.
    enum Request {
        case end(String)
        case reload
    }

    private static let ending = [SIGTERM, SIGINT]

    /// Blocks them for this thread and all that it starts; a peer that has gone is an error, not a signal.
    static func block(reloads: Bool) {
        var set = set(of: reloads ? ending + [SIGHUP] : ending)
        // Safe: `set` is local and outlives the call.
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
        signal(SIGPIPE, SIG_IGN)
    }

    /// Waits for one of them.
    static func wait() -> Request {
        var set = blocked()
        var number: Int32 = 0
        // Safe: both are local and outlive the call.
        unsafe sigwait(&set, &number)
        switch number {
        case SIGHUP: return .reload
        case SIGINT: return .end("SIGINT")
        default: return .end("SIGTERM")
        }
    }

    /// Calls `work` from a thread of its own when a signal to end comes once more.
    static func whenRepeated(_ work: @escaping @Sendable (String) -> Void) {
        Thread.detachNewThread {
            while true {
                guard case .end(let name) = wait() else { continue }
                return work(name)
            }
        }
    }

    /// Those that `block` has blocked.
    private static func blocked() -> sigset_t {
        var blocked = sigset_t()
        // Safe: `blocked` is local and outlives the calls; without a new mask the call only reads.
        unsafe pthread_sigmask(SIG_BLOCK, nil, &blocked)
        let hasReloads = unsafe sigismember(&blocked, SIGHUP) == 1
        return set(of: hasReloads ? ending + [SIGHUP] : ending)
    }

    private static func set(of numbers: [Int32]) -> sigset_t {
        var set = sigset_t()
        // Safe: `set` is local and outlives the calls.
        unsafe sigemptyset(&set)
        for number in numbers { unsafe sigaddset(&set, number) }
        return set
    }
}
