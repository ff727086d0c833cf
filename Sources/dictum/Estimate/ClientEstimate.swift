internal import ArgumentParser
internal import Dictionaries
internal import Foundation
internal import Proxy
internal import Storage

struct ClientMix: ExpressibleByArgument, Sendable {
    static let apps = ClientMix(name: "apps", groups: SimulatedClients.pollers)
    static let browsers = ClientMix(name: "browsers", groups: SimulatedClients.viewers)

    let name: String
    let groups: SimulatedClients.Groups

    private init(name: String, groups: SimulatedClients.Groups) {
        (self.name, self.groups) = (name, groups)
    }

    /// Reads `apps`, `browsers`, or parts of a list such as `10s:5%,10m:95%`.
    init?(argument: String) {
        switch argument {
        case Self.apps.name: self = .apps
        case Self.browsers.name: self = .browsers
        default:
            var groups: SimulatedClients.Groups = []
            for part in argument.split(separator: ",", omittingEmptySubsequences: false) {
                let pair = part.split(separator: ":")
                guard pair.count == 2, pair[1].last == "%", let share = Int(pair[1].dropLast()),
                    1...100 ~= share, let seconds = DurationText.seconds(String(pair[0])), seconds > 0
                else { return nil }
                groups.append((share * 100, Double(seconds)))
            }
            guard groups.count <= 20, groups.reduce(0, { $0 + $1.count }) == 10_000 else { return nil }
            self.init(name: argument, groups: groups)
        }
    }

    var defaultValueDescription: String { name }

    /// The average number of requests per second of so many clients.
    func requestsPerSecond(of clients: Int) -> Double {
        groups.reduce(0) { $0 + Double($1.count) / 10_000 * Double(clients) / $1.meanSeconds }
    }
}

/// The number of clients, how often they return, and for how long they are simulated.
struct ClientPlan: Sendable {
    var clients = 10_000
    var mix = ClientMix.apps
    var seconds = 86_400
}

/// The measured sizes of one resource, by the number of versions between dictionary and body.
struct MeasuredSizes: ResponseSizes {
    let plainBytes: Int
    let otherURLBytes: Int
    /// The seconds per version.
    private let periodSeconds: Double
    private let sameBytes: Int
    /// The sizes of dcz by the number of versions back, in rising order.
    private let sizes: [(versionsBack: Double, cost: DeltaCost)]

    /// `secondsPerVersion` is the measured period, or the interval of the measurement if the body always changes.
    init?(_ deltas: [DeltaCosts], plainBytes: Int, sameBytes: Int, secondsPerVersion: Double) {
        guard !deltas.isEmpty else { return nil }
        self.plainBytes = plainBytes
        self.sameBytes = sameBytes
        periodSeconds = max(secondsPerVersion, 0.001)
        otherURLBytes = 0
        sizes = deltas.map { (Double($0.versionsBack), $0.dcz) }
    }

    var packedBytes: Int { min(plainBytes, sizes[sizes.count - 1].cost.bytes) + Self.rowBytes }

    /// Returns the size by a straight line between two measured ages, on logarithmic scales; beyond the oldest, the
    /// last line goes on until the size without a dictionary.
    func deltaBytes(from dictionary: Int, to second: Int, _ stage: DeltaStage) -> Int {
        guard second > dictionary else { return sameBytes }
        let back = max(1, (Double(second - dictionary) / periodSeconds).rounded())
        let least = sizes[0].cost.bytes(stage)
        guard sizes.count > 1,
            let next = sizes.firstIndex(where: { $0.versionsBack >= back }) ?? sizes.indices.last
        else { return least }
        let (upper, lower) = (sizes[max(1, next)], sizes[max(1, next) - 1])
        let (upperBytes, lowerBytes) = (upper.cost.bytes(stage), max(1, lower.cost.bytes(stage)))
        let slope =
            log(max(1, Double(upperBytes) / Double(lowerBytes)))
            / log(upper.versionsBack / lower.versionsBack)
        // Without a bound, a rare large change between the last two ages makes this larger than any integer.
        let bytes = Int(bounding: Double(lowerBytes) * pow(back / lower.versionsBack, slope))
        return min(max(bytes, least), max(plainBytes, upperBytes))
    }
}

extension DeltaCost {
    /// Returns the size of a delta that is made in this way.
    fileprivate func bytes(_ stage: DeltaStage) -> Int {
        switch stage {
        case .first: firstBytes
        case .indexed: bytes
        case .strongest: min(bytes, strongestBytes ?? bytes)
        }
    }
}

struct ClientOutcome: Encodable, Sendable {
    /// The seconds for which clients keep a dictionary.
    let lifeSeconds: Int
    /// The share of requests of returning clients whose dictionary the client and Dictum both hold.
    let holderShare: Double
    /// The average bytes of a delta, those of unchanged bodies included; nil without any.
    let deltaBytes: Int?
    /// The bytes of bodies per day to all clients, and those in the best coding without dictionaries.
    let bytesPerDay: Int
    let plainBytesPerDay: Int

    /// Simulates the clients against the real store; nil if the store cannot be opened.
    init?(
        _ sizes: MeasuredSizes, plan: ClientPlan, periodSeconds: Double?, lifeSeconds: Int, isPersonal: Bool
    ) {
        var scenario = Scenario(
            title: "estimate", periodSeconds: periodSeconds.map { max(1, Int($0.rounded())) },
            clients: plan.clients, lifeSeconds: max(0, lifeSeconds), isPersonal: isPersonal)
        scenario.kinds = plan.mix.groups
        scenario.seconds = plan.seconds
        scenario.countsSharing = true
        let requests = plan.mix.requestsPerSecond(of: plan.clients) * Double(plan.seconds)
        // One client stands for several, so that the time is bounded; a few that return very often make a shorter time do.
        let scale = max(1, min(plan.clients / 20, Int(requests / Self.requestsMax)))
        let excess = requests / Double(scale) / (2 * Self.requestsMax)
        if excess > 1 { scenario.seconds = max(1, Int(Double(plan.seconds) / excess)) }
        guard var day = try? SimulatedDay(scenario, sizes, .renewal, scale: scale),
            let outcome = try? day.run()
        else { return nil }
        self.lifeSeconds = max(0, lifeSeconds)
        holderShare =
            (outcome.returns == 0 ? 0 : Double(outcome.found) / Double(outcome.returns)).rounded(places: 4)
        deltaBytes = outcome.found > 0 ? outcome.deltaBytes / outcome.found : nil
        // The simulation has whole clients of each kind, and so not quite the rate of the mix.
        let perDay =
            plan.mix.requestsPerSecond(of: plan.clients) * 86_400 / Double(max(1, outcome.requests))
        bytesPerDay = Int(bounding: Double(outcome.sentBytes) * perDay)
        plainBytesPerDay = Int(bounding: Double(outcome.plainBytes) * perDay)
    }

    /// The number of requests of a simulation: a second or two of time.
    private static let requestsMax = 60_000.0
}
