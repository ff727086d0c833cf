import Dispatch
import Primitives

/// Prints simulated days of fleets: 3, 10 and 50 nodes, with and without a shared store.
enum FleetTable {
    private static let plans: [SimulatedFleet.Plan] = [nil, 180].flatMap { period in
        let feed = period.map { "changes every \($0 / 60) min" } ?? "changes with every request"
        return [
            SimulatedFleet.Plan(title: "\(feed), one node", nodes: 1, periodSeconds: period, isShared: false),
            SimulatedFleet.Plan(title: "3 nodes, nothing shared", periodSeconds: period, isShared: false),
            SimulatedFleet.Plan(title: "3 nodes", periodSeconds: period),
            SimulatedFleet.Plan(
                title: "10 nodes, nothing shared", nodes: 10, periodSeconds: period, isShared: false),
            SimulatedFleet.Plan(title: "10 nodes", nodes: 10, periodSeconds: period),
            SimulatedFleet.Plan(title: "50 nodes", nodes: 50, periodSeconds: period),
            SimulatedFleet.Plan(
                title: "10 nodes that come and go", nodes: 10, periodSeconds: period, comesAndGoes: true),
            SimulatedFleet.Plan(
                title: "10 nodes, Redis away 10 min", nodes: 10, periodSeconds: period, hasOutage: true),
        ]
    }

    static func printAll(_ sizes: SizeModel, _ wanted: [Int], scale: Int) {
        let plans = plans.enumerated().filter { wanted.isEmpty || wanted.contains($0.offset) }.map(\.element)
        let outcomes = Guarded([Int: SimulatedFleet.Outcome]())
        DispatchQueue.concurrentPerform(iterations: plans.count) { index in
            guard let fleet = try? SimulatedFleet(plans[index], sizes, scale: scale),
                let outcome = try? fleet.run()
            else { return }
            outcomes.withLock { $0[index] = outcome }
        }
        print(
            "Fleets: 100,000 clients who ask any node, a body of \(sizes.bodyBytes / 1000) KB; one client of \(scale)"
        )
        print(line(heads))
        let days = outcomes.withLock { $0 }
        for (index, plan) in plans.enumerated() {
            if let day = days[index] { print(line(cells(plan, day, scale))) }
        }
    }

    private static let heads = [
        "", "found", "in outage", "after it", "from Redis", "sent", "commands/1000", "to Redis",
        "from Redis", "in Redis",
    ]

    private static func cells(
        _ plan: SimulatedFleet.Plan, _ day: SimulatedFleet.Outcome, _ scale: Int
    ) -> [String] {
        // Where bodies do not depend on the clients, neither do the bytes of versions.
        let times = plan.periodSeconds == nil ? scale : 1
        return [
            plan.title, percent(day.all.found, of: day.all.advertised),
            plan.hasOutage ? percent(day.outage.found, of: day.outage.advertised) : "",
            plan.hasOutage ? percent(day.recovery.found, of: day.recovery.advertised) : "",
            percent(day.fromRedis, of: day.all.advertised), percent(day.sentBytes, of: day.plainBytes),
            plan.isShared ? tenths(day.commands * 10_000 / max(1, day.requests)) : "",
            megabytes(day.bytesToRedis * times), megabytes(day.bytesFromRedis * times),
            megabytes(day.bytesInRedis * times),
        ]
    }

    private static func line(_ cells: [String]) -> String {
        cells.enumerated().map { column, cell in
            let padding = String(repeating: " ", count: max(0, (column == 0 ? 42 : 14) - cell.count))
            return column == 0 ? cell + padding : padding + cell
        }.joined()
    }

    private static func megabytes(_ bytes: Int) -> String { bytes == 0 ? "" : "\(bytes / 1_000_000) MB" }

    private static func percent(_ part: Int, of whole: Int) -> String {
        whole == 0 ? "" : tenths(part * 1000 / whole) + " %"
    }

    private static func tenths(_ count: Int) -> String { "\(count / 10).\(count % 10)" }
}
