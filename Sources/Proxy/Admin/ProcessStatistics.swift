internal import Foundation
internal import Glibc

/// Metrics of this process and its build.
package struct ProcessStatistics: Sendable {
    private let version: String
    private let startSeconds: Double

    /// Creates the statistics of a process that starts now.
    package init(version: String) {
        self.version = version
        startSeconds = Date().timeIntervalSince1970
    }

    /// Reads the values from system files, so it may not run on a loop.
    ///
    /// Values that the system lacks are left out.
    package func samples() -> [MetricSample] {
        var samples = [
            MetricSample(MetricsTable.buildInfo, [version], 1),
            MetricSample(MetricsTable.processStart, [], startSeconds),
        ]
        if let pages = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " "),
            pages.count > 1, let resident = Int(pages[1])
        {
            samples.append(.init(MetricsTable.processMemory, [], resident * Int(getpagesize())))
        }
        if let entries = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            // One entry is the directory being read.
            samples.append(.init(MetricsTable.processDescriptors, [], entries.count - 1))
        }
        return samples
    }
}
