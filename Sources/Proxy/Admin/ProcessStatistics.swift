internal import Foundation
internal import Glibc

/// What the operating system says of this process, and what it is a build of.
package struct ProcessStatistics: Sendable {
    private let version: String
    private let startSeconds: Double

    /// Begins now; make one when the process starts.
    package init(version: String) {
        self.version = version
        startSeconds = Date().timeIntervalSince1970
    }

    /// The values now, read from files, so not on a loop; what the system does not say is left out.
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
            // One of them is the directory being read.
            samples.append(.init(MetricsTable.processDescriptors, [], entries.count - 1))
        }
        return samples
    }
}
