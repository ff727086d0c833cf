/// The feed, the clients and the limits of a simulated day.
struct Scenario: Sendable {
    let title: String
    var feed = SimulatedFeed.always
    var clients = 10_000
    /// The number per second of clients that fetch once, without a dictionary, each from its own URL.
    var newcomersPerSecond = 0
    /// The number of the chain's URLs; each client visits five.
    var urls = 1
    /// The time for which clients keep an offered body.
    var lifeSeconds = 86_400
    /// The most requests per visit, all with the same dictionary.
    var burstMax = 1
    /// The percentage of responses that do not arrive.
    var lostPercent = 0
    /// True if every client has its own body and its tokens rotate, so that only the id proves what it was given.
    var isPersonal = false
    /// True if the proxy restarts at noon.
    var restarts = false

    static let all = [
        Scenario(title: "changes with every request"),
        Scenario(title: "changes every 5 s", feed: .often),
        Scenario(title: "changes every 3 min", feed: .seldom),
        Scenario(title: "100,000 clients", clients: 100_000),
        Scenario(title: "10 newcomers a second", newcomersPerSecond: 10),
        Scenario(title: "100 newcomers a second", newcomersPerSecond: 100),
        Scenario(title: "500 URLs, every 5 s", feed: .often, urls: 500),
        Scenario(title: "kept for a minute", lifeSeconds: 60),
        Scenario(title: "kept for an hour", lifeSeconds: 3600),
        Scenario(title: "bursts, 5 % lost", burstMax: 6, lostPercent: 5),
        Scenario(title: "restart at noon", restarts: true),
        Scenario(title: "personal", isPersonal: true),
        Scenario(title: "personal, every 3 min", feed: .seldom, isPersonal: true),
        Scenario(title: "personal, restart at noon", isPersonal: true, restarts: true),
        Scenario(title: "personal, 100 made-up a second", newcomersPerSecond: 100, isPersonal: true),
    ]
}
