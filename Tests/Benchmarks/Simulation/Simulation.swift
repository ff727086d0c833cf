import Dictionaries
import Dispatch
import Foundation
import Primitives
import Storage

/// Prints the results of simulated days of many clients, compared with a store that keeps everything.
///
/// By default it simulates one client of twenty, which takes about a minute. `--full` simulates all of them, `--small` one
/// of two hundred, a number selects one scenario by its position, and `--fleet` simulates fleets only. Only the write queue makes the numbers differ slightly between runs.
@main
enum Simulation {
    private static let rules: [(SimulatedDay.Rule, String)] = [
        (.oracle, "nothing forgotten"), (.always, "all offered"), (.renewal, "offered where it gains"),
    ]

    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        let scale = arguments.contains("--full") ? 1 : arguments.contains("--small") ? 200 : 20
        let wanted = arguments.compactMap(Int.init)
        let scenarios = Scenario.all.enumerated().filter { wanted.isEmpty || wanted.contains($0.offset) }.map(
            \.element)
        let sizes = try SizeModel()
        if arguments.contains("--fleet") { return FleetTable.printAll(sizes, wanted, scale: scale) }
        let jobs = scenarios.flatMap { scenario in rules.map { (scenario, $0.0) } }
        let outcomes = Guarded([Int: TabledDay]())
        DispatchQueue.concurrentPerform(iterations: jobs.count) { index in
            let (scenario, rule) = jobs[index]
            let path =
                scenario.restarts ? NSTemporaryDirectory() + "dictum-simulation-\(index).sqlite" : ":memory:"
            defer { removeStore(at: path) }
            guard var day = try? SimulatedDay(scenario, sizes, rule, scale: scale, path: path) else { return }
            let packed = Guarded(PackedFeed())
            day.onAdmission = { second, page in
                packed.withLock { packed in
                    scenario.isPersonal
                        ? packed.admitPersonal(sizes, times: scale)
                        : packed.admit(bodyOf: second, page: page, sizes, times: scale)
                }
            }
            guard let outcome = try? day.run() else { return }
            let tabled = TabledDay(outcome: outcome, packed: packed.withLock { $0 })
            outcomes.withLock { $0[index] = tabled }
        }
        print(
            "Simulated days: a body of \(sizes.bodyBytes / 1000) KB, \(sizes.plainBytes) bytes plain; "
                + "a deploy every four hours; one client of \(scale)")
        printRow([
            "", "", "requests", "found", "sent", "of oracle", "admitted", "written", "versions", "disk",
            "index",
        ])
        for (place, scenario) in scenarios.enumerated() {
            let oracle = outcomes.withLock { $0[place * rules.count] }
            for (number, rule) in rules.enumerated() {
                guard let oracle, let day = outcomes.withLock({ $0[place * rules.count + number] }) else {
                    continue
                }
                printRow(row(number == 0 ? scenario.title : "", rule.1, day, oracle, sizes, scale))
            }
        }
        if wanted.isEmpty || arguments.contains("--pages") { try printPages(sizes, scale) }
        if wanted.isEmpty { FleetTable.printAll(sizes, [], scale: scale) }
    }

    private static func removeStore(at path: String) {
        guard path != ":memory:" else { return }
        for suffix in ["", "-wal", "-shm", ".lock"] {
            try? FileManager.default.removeItem(atPath: path + suffix)
        }
    }

    /// Pages whose scripts fetch a feed that is fresh for ten seconds, and may announce its dictionary.
    private static func printPages(_ sizes: SizeModel, _ scale: Int) throws {
        let feeds = [SimulatedFeed.often, .seldom, .always]
        let jobs = feeds.flatMap { feed in SimulatedPages.Rule.allCases.map { (feed, $0) } }
        let outcomes = Guarded([Int: TabledDay]())
        DispatchQueue.concurrentPerform(iterations: jobs.count) { index in
            guard var pages = try? SimulatedPages(jobs[index].0, sizes, jobs[index].1, scale: scale),
                let outcome = try? pages.run()
            else { return }
            outcomes.withLock { $0[index] = outcome }
        }
        print("Pages that are viewed every three minutes to twice a week, ten fetches a view, one every 13 s")
        let days = outcomes.withLock { $0 }
        for (index, (feed, rule)) in jobs.enumerated() {
            guard let day = days[index], let oracle = days[index - index % 3] else { continue }
            printRow(row(index % 3 == 0 ? feed.title : "", rule.title, day, oracle, sizes, scale))
        }
    }

    private static func row(
        _ title: String, _ rule: String, _ tabled: TabledDay, _ oracle: TabledDay,
        _ sizes: SizeModel, _ scale: Int
    ) -> [String] {
        let day = tabled.outcome
        return [
            title, rule, "\(day.requests * scale / 1000)k",
            percent(day.found, of: tabled.downloads > 0 ? day.requests : day.advertised),
            percent(day.sentBytes, of: day.plainBytes), percent(day.sentBytes, of: oracle.outcome.sentBytes),
            "\(day.admissions * scale / 1000)k", megabytes(tabled.packed.bytes),
            "\(day.versionsMax * scale)", megabytes(day.versionsMax * scale * tabled.packed.meanBytes),
            megabytes(day.indexBytes * scale),
            (day.evictions.sorted { $0.key.rawValue < $1.key.rawValue }.map {
                "\($0.key):\($0.value * scale)"
            }
                + (tabled.names > 0
                    ? ["names:\(tabled.names)", "downloads:\(tabled.downloads * scale)"] : []))
                .joined(separator: " "),
        ]
    }

    private static func megabytes(_ bytes: Int) -> String { "\((bytes + 500_000) / 1_000_000) MB" }

    private static func percent(_ part: Int, of whole: Int) -> String {
        let hundredths = whole == 0 ? 0 : (part * 10_000 + whole / 2) / whole
        let fraction = hundredths % 100
        return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction) %"
    }

    private static func printRow(_ cells: [String]) {
        let widths = [28, 24, 9, 10, 10, 11, 9, 9, 9, 8, 8, 0]
        let line = zip(cells, widths).enumerated().map { column, cell in
            let padding = String(repeating: " ", count: max(0, cell.1 - cell.0.count))
            return column < 2 ? cell.0 + padding : column == 11 ? "  " + cell.0 : padding + cell.0
        }
        print(line.joined())
    }
}
