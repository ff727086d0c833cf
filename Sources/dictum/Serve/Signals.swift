internal import Glibc

/// The signals that end the program, have it read its configuration again or start its successor, taken by one thread at a time.
///
/// Blocked in every thread, so before the first is started. Not a Dispatch signal source: under the thread
/// sanitizer that never fires.
enum Signals {
    /// What a signal asks for.
    enum Request: Sendable {
        case end(String)
        case reload
        case upgrade
    }

    private static let ending = [SIGTERM, SIGINT]

    /// Blocks them for this thread and all that it starts; a peer that has gone is an error, not a signal.
    static func block(reloads: Bool = false, upgrades: Bool = false) {
        var set = set(of: ending + (reloads ? [SIGHUP] : []) + (upgrades ? [SIGUSR2] : []))
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
        case SIGUSR2: return .upgrade
        case SIGINT: return .end("SIGINT")
        default: return .end("SIGTERM")
        }
    }

    /// Those that `block` has blocked.
    private static func blocked() -> sigset_t {
        var blocked = sigset_t()
        // Safe: `blocked` is local and outlives the calls; without a new mask the call only reads.
        unsafe pthread_sigmask(SIG_BLOCK, nil, &blocked)
        return set(of: ending + [SIGHUP, SIGUSR2].filter { unsafe sigismember(&blocked, $0) == 1 })
    }

    private static func set(of numbers: [Int32]) -> sigset_t {
        var set = sigset_t()
        // Safe: `set` is local and outlives the calls.
        unsafe sigemptyset(&set)
        for number in numbers { unsafe sigaddset(&set, number) }
        return set
    }
}
