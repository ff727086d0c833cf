import Dictionaries
import Storage

extension Scenario {
    /// The scenarios of the benchmark.
    static let all = [
        Scenario(title: "changes with every request"),
        Scenario(title: "changes every 5 s", periodSeconds: 5),
        Scenario(title: "changes every 3 min", periodSeconds: 180),
        Scenario(title: "100,000 clients", clients: 100_000),
        Scenario(title: "10 newcomers a second", newcomersPerSecond: 10),
        Scenario(title: "100 newcomers a second", newcomersPerSecond: 100),
        Scenario(title: "500 URLs, every 5 s", periodSeconds: 5, urls: 500),
        Scenario(title: "kept for a minute", lifeSeconds: 60),
        Scenario(title: "kept for an hour", lifeSeconds: 3600),
        Scenario(title: "bursts, 5 % lost", burstMax: 6, lostPercent: 5),
        Scenario(title: "restart at noon", restarts: true),
        Scenario(title: "personal", isPersonal: true),
        Scenario(title: "personal, every 3 min", periodSeconds: 180, isPersonal: true),
        Scenario(title: "personal, restart at noon", isPersonal: true, restarts: true),
        Scenario(title: "personal, 100 made-up a second", newcomersPerSecond: 100, isPersonal: true),
    ]
}
