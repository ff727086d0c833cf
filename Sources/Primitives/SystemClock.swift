#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

package enum SystemClock {
    /// Monotonic nanoseconds, for durations and deadlines.
    package static var monotonicNanoseconds: Int64 {
        let time = now(CLOCK_MONOTONIC)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    /// Microseconds since 1970 by the system's clock; 0 beyond the range of 64 bits.
    package static var unixMicroseconds: Int64 {
        let time = now(CLOCK_REALTIME)
        let seconds = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000)
        return seconds.overflow ? 0 : seconds.partialValue &+ Int64(time.tv_nsec / 1000)
    }

    /// Milliseconds since 1970 by the system's clock.
    package static var unixMilliseconds: Int64 { unixMicroseconds / 1000 }

    /// Seconds since 1970 by the system's clock.
    package static var unixSeconds: Int { Int(unixMicroseconds / 1_000_000) }

    /// The nanoseconds of processor time that the calling thread has used.
    package static var threadNanoseconds: Int64 {
        let time = now(CLOCK_THREAD_CPUTIME_ID)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    private static func now(_ clock: clockid_t) -> timespec {
        var time = timespec()
        // Safe: `time` is local and of the size that the call fills; it fails only for unknown clocks.
        _ = unsafe clock_gettime(clock, &time)
        return time
    }
}
