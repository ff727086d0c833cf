/// The resource, the clients and the limits of a simulated day.
package struct Scenario: Sendable {
    package let title: String
    /// The seconds between two bodies; nil for a new body in every response.
    package var periodSeconds: Int?
    package var clients = 10_000
    /// The kinds of clients; their counts are of 10,000.
    package var kinds = SimulatedClients.pollers
    /// The length of the day.
    package var seconds = 86_400
    /// The number per second of clients that fetch once, without a dictionary, each from its own URL.
    package var newcomersPerSecond = 0
    /// The number of the chain's URLs; each client visits five.
    package var urls = 1
    /// The time for which clients keep an offered body.
    package var lifeSeconds = 86_400
    /// The most requests per visit, all with the same dictionary.
    package var burstMax = 1
    /// The percentage of responses that do not arrive.
    package var lostPercent = 0
    /// True if every client has its own body and its tokens rotate, so that only the id proves what it was given.
    package var isPersonal = false
    /// True to distinguish deltas that several clients share, which takes memory for each delta.
    package var countsSharing = false
    /// True if the proxy restarts at noon.
    package var restarts = false

    package init(
        title: String, periodSeconds: Int? = nil, clients: Int = 10_000, newcomersPerSecond: Int = 0,
        urls: Int = 1, lifeSeconds: Int = 86_400, burstMax: Int = 1, lostPercent: Int = 0,
        isPersonal: Bool = false, restarts: Bool = false
    ) {
        self.title = title
        self.periodSeconds = periodSeconds
        self.clients = clients
        self.newcomersPerSecond = newcomersPerSecond
        self.urls = urls
        self.lifeSeconds = lifeSeconds
        self.burstMax = burstMax
        self.lostPercent = lostPercent
        self.isPersonal = isPersonal
        self.restarts = restarts
    }
}
