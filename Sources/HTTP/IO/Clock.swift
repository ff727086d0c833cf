internal import CLinux

/// The system's clocks.
package enum Clock {
    /// Monotonic nanoseconds, for durations and deadlines.
    package static var monotonicNanoseconds: Int64 { CLinux_monotonic_nanoseconds() }
    /// Milliseconds since 1970 by the system's clock.
    package static var unixMilliseconds: Int64 { CLinux_unix_milliseconds() }
    /// Seconds since 1970 by the system's clock.
    package static var unixSeconds: Int { Int(unixMilliseconds / 1000) }
}
