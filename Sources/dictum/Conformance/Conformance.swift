internal import Dictionaries
internal import Glibc
internal import Primitives

/// A client under test, as the judge drives it; blocking.
protocol ClientUnderTest {
    /// True if it has users that the judge can change.
    var hasUsers: Bool { get }
    /// The number of times that a request is repeated until it names its dictionary, which a browser may store late.
    var attempts: Int { get }
    func get(_ url: String, for user: String) throws(CommandError) -> Delivered
}

/// The judge: lets a client make the requests of every rule, and compares them with the rules.
struct Conformance {
    /// A life of three seconds is over for sure, on caches that count whole seconds too.
    private static let laterSeconds: Int64 = 5
    private static let pauseMicroseconds: UInt32 = 100_000
    /// The number of times that an offer is made which a busy machine holds up.
    private static let offersMax = 10

    let server: JudgeServer
    let rules: [ClientRule]

    /// Runs all rules and returns a finding for each.
    ///
    /// It makes the first requests of all rules, then the second ones, and so on. A browser has time to store a
    /// dictionary between two requests of a rule.
    func run(_ client: some ClientUnderTest) throws(CommandError) -> [Finding] {
        let tried = tried(by: client)
        var verdicts = [[Verdict]](repeating: [], count: tried.count)
        for round in 0..<(tried.map(\.steps.count).max() ?? 0) {
            let began = SystemClock.monotonicNanoseconds
            let steps = tried.indices.filter { tried[$0].steps.count > round }
            let (now, later) = (
                steps.filter { !tried[$0].steps[round].isLater },
                steps.filter { tried[$0].steps[round].isLater }
            )
            for index in now { verdicts[index].append(try take(tried[index].steps[round], client)) }
            let rest = began + Self.laterSeconds * 1_000_000_000 - SystemClock.monotonicNanoseconds
            if !later.isEmpty, rest > 0 { usleep(UInt32(rest / 1000)) }
            for index in later { verdicts[index].append(try take(tried[index].steps[round], client)) }
        }
        let seen = server.requests(from: 0)
        let found = zip(tried, verdicts).map { ($0.name, $0.verdict(of: $1, seen: seen)) }
        let byName = Dictionary(uniqueKeysWithValues: found)
        return rules.map {
            Finding($0, byName[$0.name] ?? .notTried("the client has one user; see {user}"))
        }
    }

    /// Returns the rules that a client can be asked to follow.
    private func tried(by client: some ClientUnderTest) -> [ClientRule] {
        rules.filter { client.hasUsers || $0.steps.allSatisfy { $0.user == Step.users[0] } }
    }

    /// True if a client has asked for something, unless no rule is for it.
    func isJudged(_ client: some ClientUnderTest) -> Bool {
        server.seenCount > 0 || tried(by: client).isEmpty
    }

    /// Makes a request, again if the client had its response too late; each response has a new Date.
    private func take(_ step: Step, _ client: some ClientUnderTest) throws(CommandError) -> Verdict {
        for _ in 1..<Self.offersMax {
            let verdict = try ask(step, client)
            if verdict != .late { return verdict }
        }
        return try ask(step, client)
    }

    /// Makes a request, again if the client needs time.
    private func ask(_ step: Step, _ client: some ClientUnderTest) throws(CommandError) -> Verdict {
        var verdict = Verdict.pass
        for attempt in 1...client.attempts {
            let first = server.seenCount
            let delivered = try client.get(server.url(of: step), for: step.user)
            let (now, seen) = (SystemClock.monotonicNanoseconds, server.requests(from: first))
            verdict = step.verdict(seen, delivered, server.bodies, idOf: offeredID)
            if verdict == .pass, step.isLate(seen, now: now) { return .late }
            guard case .notTried = verdict, case .body = step.names, attempt < client.attempts else { break }
            usleep(Self.pauseMicroseconds)
        }
        return verdict
    }

    /// Returns the id that came with the body of a path.
    private func offeredID(_ path: String) -> String? {
        let step = rules.lazy.flatMap { $0.steps + $0.others }.first { $0.path == path }
        let lines = (step?.fields ?? []).filter { $0.name == "use-as-dictionary" }.map(\.value)
        return UseAsDictionary.parse(lines).flatMap { $0.id.isEmpty ? nil : $0.id }
    }
}

/// The verdict on one rule, as it is reported.
struct Finding: Encodable, Sendable {
    let rule: String
    let section: String
    let verdict: String
    let says: String
    let detail: String?

    init(_ rule: ClientRule, _ verdict: Verdict) {
        (self.rule, section, says) = (rule.name, rule.section, rule.text)
        switch verdict {
        case .pass: (self.verdict, detail) = ("pass", nil)
        case .fail(let text): (self.verdict, detail) = ("fail", text)
        case .notTried(let text): (self.verdict, detail) = ("not tried", text)
        }
    }

    static func text(_ findings: [Finding]) -> String {
        let rows = findings.flatMap { finding in
            [[finding.verdict, finding.rule, finding.section, finding.says]]
                + (finding.detail.map { [["", "", "", "  " + $0]] } ?? [])
        }
        let counts = ["pass", "fail", "not tried"].map { verdict in
            "\(findings.count { $0.verdict == verdict }) \(verdict)"
        }
        return OutputFormat.table(rows) + "\n\n" + counts.joined(separator: ", ")
    }
}
