internal import Foundation
internal import Glibc

struct ProcessStatistics: Sendable {
    private let version: String
    private let startMicroseconds: Int

    init(version: String) {
        self.version = version
        startMicroseconds = Int(Date().timeIntervalSince1970 * 1e6)
    }
}

/// The values come from system files, so they may not be read on a loop. Values that the system lacks are left out.
extension ProcessStatistics: MetricSource {
    static var readings: [MetricReading<ProcessStatistics>] {
        [
            .each(
                "dictum_build_info", kind: .gauge, by: "version", "Always 1; the label names the version."
            ) { [($0.version, 1)] },
            .one(
                "process_start_time_seconds", kind: .gauge, divisor: 1_000_000,
                "Start time of the process, in seconds since 1970."
            ) { $0.startMicroseconds },
            .one("process_resident_memory_bytes", kind: .gauge, "Resident memory of the process.") { _ in
                residentBytes
            },
            .one("process_open_fds", kind: .gauge, "Open file descriptors.") { _ in openDescriptors },
        ]
    }

    private static var residentBytes: Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8),
            let pages = text.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { return nil }
        return pages * Int(getpagesize())
    }

    private static var openDescriptors: Int? {
        // One entry is the directory being read.
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")).map { $0.count - 1 }
    }
}
