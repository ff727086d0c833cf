internal import Glibc

/// The clock by which versions are ordered.
enum StoreClock {
    /// Microseconds since 1970, fine enough to order the admissions of two processes.
    static var microseconds: Int64 {
        var time = timespec()
        // Safe: `time` is local and of the size that the call fills.
        guard unsafe clock_gettime(CLOCK_REALTIME, &time) == 0 else { return 0 }
        let seconds = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000)
        return seconds.overflow ? 0 : seconds.partialValue &+ Int64(time.tv_nsec / 1000)
    }
}
