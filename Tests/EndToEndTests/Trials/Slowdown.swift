internal import Foundation
internal import Primitives

/// Watches how much longer work takes than its processor time: once on an idle machine, and more beside other processes.
///
/// A trial that gives a program some time to act gives it more where other processes take the processors.
final class Slowdown: Sendable {
    private let watched = Guarded((seconds: 0.0, work: 0.0))

    /// The factor over all that was watched so far, at least 1.
    var factor: Double { watched.withLock { max(1, $0.seconds / max($0.work, 1e-9)) } }

    /// Watches as long as this object lives, on a thread that works for a tenth of the time.
    init() {
        Thread.detachNewThread { [weak self] in
            while let watched = self?.watched {
                let sample = Self.sample()
                watched.withLock {
                    $0.seconds += sample.seconds
                    $0.work += sample.work
                }
                usleep(45_000)
            }
        }
    }

    /// Works for 5 ms of processor time, and returns the time that it took.
    private static func sample() -> (seconds: Double, work: Double) {
        let (start, idle) = (seconds(CLOCK_MONOTONIC), seconds(CLOCK_THREAD_CPUTIME_ID))
        while seconds(CLOCK_THREAD_CPUTIME_ID) - idle < 0.005 {}
        return (seconds(CLOCK_MONOTONIC) - start, seconds(CLOCK_THREAD_CPUTIME_ID) - idle)
    }

    private static func seconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        // Safe: the call fills a value of this function.
        _ = unsafe clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
