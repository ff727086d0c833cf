internal import CLinux

/// The clocks of the system.
package enum Clock {
    /// Nanoseconds that only ever grow: for durations and deadlines.
    package static var monotonicNanoseconds: Int64 { CLinux_monotonic_nanoseconds() }
    /// Milliseconds since 1970, as the system believes.
    package static var unixMilliseconds: Int64 { CLinux_unix_milliseconds() }
    /// Seconds since 1970, as the system believes.
    package static var unixSeconds: Int { Int(unixMilliseconds / 1000) }
}
