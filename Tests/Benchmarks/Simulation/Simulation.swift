import Dictionaries
import Dispatch

/// Prints what a day of ten thousand clients comes to with several settings of the pace of admissions.
///
/// Deterministic: the same numbers in every run.
@main
enum Simulation {
    private struct Setting {
        let title: String
        var versions = 16
        let policy: ChurnPolicy
    }

    private static let feeds = [
        SimulatedFeed(title: "changes with every request", periodSeconds: nil),
        SimulatedFeed(title: "changes every 5 s", periodSeconds: 5),
        SimulatedFeed(title: "changes every 3 min", periodSeconds: 180),
    ]

    private static var settings: [Setting] {
        var never = ChurnPolicy()
        never.doublingPercent = 100
        let paced = [15, 60, 300, 3600].map { seconds in
            var policy = ChurnPolicy()
            policy.intervalSecondsMax = seconds
            let isDefault = seconds == ChurnPolicy().intervalSecondsMax
            return Setting(
                title: "up to \(seconds) s between" + (isDefault ? " (default)" : ""), policy: policy)
        }
        return [Setting(title: "the newest 16", policy: never)] + paced
    }

    static func main() throws {
        let sizes = try SizeModel()
        let jobs = feeds.flatMap { feed in settings.map { (feed, $0) } }
        let outcomes = Guarded([Int: SimulatedDay.Outcome]())
        DispatchQueue.concurrentPerform(iterations: jobs.count) { index in
            let (feed, setting) = (feeds[index / settings.count], settings[index % settings.count])
            guard var day = try? SimulatedDay(feed, sizes, versions: setting.versions, policy: setting.policy)
            else { return }
            let outcome = day.run()
            outcomes.withLock { $0[index] = outcome }
        }
        print(
            "A simulated day: 10,000 clients, a body of \(sizes.bodyBytes / 1000) KB, a deploy every four hours"
        )
        printRow(["the feed", "admissions", "deltas", "evicted", "sent", "of plain", "versions", "written"])
        for (index, job) in jobs.enumerated() {
            guard let outcome = outcomes.withLock({ $0[index] }) else { continue }
            printRow(row(job.0.title, job.1.title, outcome, sizes))
        }
    }

    private static func row(
        _ feed: String, _ setting: String, _ day: SimulatedDay.Outcome, _ sizes: SizeModel
    )
        -> [String]
    {
        [
            feed, setting, percent(day.deltas, of: day.requests), percent(day.evicted, of: day.advertised),
            "\(day.sentBytes / 1_000_000) MB", percent(day.sentBytes, of: day.plainBytes),
            "\(day.admissions)",
            "\(day.admissions * sizes.bodyBytes / 1_000_000) MB",
        ]
    }

    private static func percent(_ part: Int, of whole: Int) -> String {
        let tenths = whole == 0 ? 0 : (part * 1000 + whole / 2) / whole
        return "\(tenths / 10).\(tenths % 10) %"
    }

    private static func printRow(_ cells: [String]) {
        let widths = [28, 30, 8, 8, 10, 9, 10, 10]
        let line = zip(cells, widths).enumerated().map { column, cell in
            let padding = String(repeating: " ", count: max(0, cell.1 - cell.0.count))
            return column < 2 ? cell.0 + padding : padding + cell.0
        }
        print(line.joined())
    }
}
