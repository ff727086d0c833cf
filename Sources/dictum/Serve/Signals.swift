internal import Glibc

/// The signals that stop, reload or upgrade the program, or rotate its log, taken by one thread at a time.
///
/// Block them before the first thread starts: threads inherit the mask. A Dispatch signal source does not work
/// here, since it never fires under the thread sanitizer.
enum Signals {
    enum Request: Sendable {
        case end(String)
        case reload
        case upgrade
        case reopenLog
    }

    private static let ending = [SIGTERM, SIGINT]

    /// Blocks the signals for this thread and all threads it starts.
    ///
    /// - Parameter serves: True to block those of a service too: SIGUSR1 and SIGUSR2.
    static func block(reloads: Bool = false, serves: Bool = false) {
        var set = set(of: ending + (reloads ? [SIGHUP] : []) + (serves ? [SIGUSR1, SIGUSR2] : []))
        // Safe: `set` is local and outlives the call.
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Lets the signals that end the program do so again, one that has come meanwhile at once.
    static func unblock() {
        var set = set(of: ending)
        // Safe: `set` is local and outlives the call.
        unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
    }

    /// True if the program was started so that a signal has no effect; a blocked one would be taken nevertheless.
    static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        // Safe: `action` is local and outlives the call, which changes nothing; its handler has the size of a pointer.
        unsafe sigaction(number, nil, &action)
        return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// True if a signal to end has come while it was blocked, and waits for `unblock`.
    static var hasPendingEnd: Bool {
        var pending = sigset_t()
        // Safe: `pending` is local and outlives the calls.
        unsafe sigpending(&pending)
        return ending.contains { unsafe sigismember(&pending, $0) == 1 }
    }

    static func wait() -> Request {
        var set = blocked()
        var number: Int32 = 0
        // Safe: both are local and outlive the call.
        unsafe sigwait(&set, &number)
        switch number {
        case SIGHUP: return .reload
        case SIGUSR1: return .reopenLog
        case SIGUSR2: return .upgrade
        case SIGINT: return .end("SIGINT")
        default: return .end("SIGTERM")
        }
    }

    /// Waits for a signal to end, for at most this time; returns true if one came.
    static func hasEnd(withinNanoseconds rest: Int64) -> Bool {
        var set = set(of: ending)
        var time = timespec(tv_sec: Int(rest / 1_000_000_000), tv_nsec: Int(rest % 1_000_000_000))
        // Safe: both are local and outlive the call, which writes nothing without an information structure.
        return unsafe sigtimedwait(&set, nil, &time) > 0
    }

    /// Returns the signals that `block` has blocked.
    private static func blocked() -> sigset_t {
        var blocked = sigset_t()
        // Safe: `blocked` is local and outlives the calls; without a new mask the call only reads.
        unsafe pthread_sigmask(SIG_BLOCK, nil, &blocked)
        return set(of: ending + [SIGHUP, SIGUSR1, SIGUSR2].filter { unsafe sigismember(&blocked, $0) == 1 })
    }

    private static func set(of numbers: [Int32]) -> sigset_t {
        var set = sigset_t()
        // Safe: `set` is local and outlives the calls.
        unsafe sigemptyset(&set)
        for number in numbers { unsafe sigaddset(&set, number) }
        return set
    }
}
