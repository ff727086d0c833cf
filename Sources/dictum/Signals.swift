internal import Glibc

/// The signals that end the program, taken by the main thread alone.
///
/// Blocked in every thread, so before the first is started. Not a Dispatch signal source: under the thread
/// sanitizer that never fires.
enum Signals {
    private static let ending = [SIGTERM, SIGINT]

    /// Blocks them for this thread and all that it starts; a peer that has gone is an error, not a signal.
    static func block() {
        var set = endingSet()
        // Safe: `set` is local and outlives the call.
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
        signal(SIGPIPE, SIG_IGN)
    }

    /// Waits for one of them; returns its name.
    static func wait() -> String {
        var set = endingSet()
        var number: Int32 = 0
        // Safe: both are local and outlive the call.
        unsafe sigwait(&set, &number)
        return number == SIGINT ? "SIGINT" : "SIGTERM"
    }

    private static func endingSet() -> sigset_t {
        var set = sigset_t()
        // Safe: `set` is local and outlives the calls.
        unsafe sigemptyset(&set)
        for number in ending { unsafe sigaddset(&set, number) }
        return set
    }
}
