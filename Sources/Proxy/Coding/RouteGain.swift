/// Totals of sampled deltas and of the same bodies without a dictionary.
struct Gain: Sendable, Equatable {
    private(set) var samples = 0
    private(set) var deltaBytes = 0
    private(set) var plainBytes = 0
    /// The sums of squares and products, for the error of the ratio.
    private var (deltaSquares, plainSquares, products) = (0.0, 0.0, 0.0)

    /// With fewer samples nothing is said about the error.
    static let samplesMin = 10

    mutating func add(deltaBytes: Int, plainBytes: Int) {
        samples += 1
        self.deltaBytes += deltaBytes
        self.plainBytes += plainBytes
        deltaSquares += Double(deltaBytes) * Double(deltaBytes)
        plainSquares += Double(plainBytes) * Double(plainBytes)
        products += Double(deltaBytes) * Double(plainBytes)
    }

    /// The standard error of `plainBytes / deltaBytes`; nil with too few samples.
    ///
    /// The error of a ratio of means is that of the samples' distances from the line through zero with its slope.
    var ratioError: Double? {
        guard samples >= Self.samplesMin, deltaBytes > 0 else { return nil }
        let (count, sum) = (Double(samples), Double(deltaBytes))
        let ratio = Double(plainBytes) / sum
        let distances = max(0, plainSquares - 2 * ratio * products + ratio * ratio * deltaSquares)
        return (distances * count / (count - 1)).squareRoot() / sum
    }

    /// The percentage saved, rounded down; negative if deltas are larger.
    var percent: Int {
        guard plainBytes > 0 else { return 0 }
        let saved = (plainBytes - deltaBytes) * 100
        return saved / plainBytes - (saved < 0 && saved % plainBytes != 0 ? 1 : 0)
    }
}

/// The savings of a route's sampled deltas, against the best coding without a dictionary.
///
/// `GainSampler` keeps one per route.
struct RouteGain: Sendable {
    /// A report of a route for the log.
    struct Report: Sendable, Equatable {
        let sum: Gain
        /// The setting that would help, or nil if the gain is good.
        let advice: Advice?
    }

    /// Settings that help if deltas save little.
    enum Advice: Sendable, Equatable {
        /// Most deltas are made over bodies of other URLs that have too little in common.
        case coversURL
        case dictionaryOff
    }

    /// The least time between two reports of a route.
    static let reportSeconds = 3600
    /// The least number of samples that a report needs.
    static let reportSamplesMin = 16
    /// The percentage that deltas should save, because they also cost memory and time.
    static let goodPercent = 20

    /// The samples since the start.
    private(set) var total = Gain()
    private var sinceReport = Gain()
    /// The samples whose dictionary is the body of another URL.
    private var acrossURLs = Gain()
    private var reportedAt: Int?

    /// Adds a sample; returns a report if one is due.
    mutating func record(deltaBytes: Int, plainBytes: Int, isAcrossURLs: Bool, now: Int) -> Report? {
        total.add(deltaBytes: deltaBytes, plainBytes: plainBytes)
        sinceReport.add(deltaBytes: deltaBytes, plainBytes: plainBytes)
        if isAcrossURLs { acrossURLs.add(deltaBytes: deltaBytes, plainBytes: plainBytes) }
        guard sinceReport.samples >= Self.reportSamplesMin else { return nil }
        if let reportedAt, now - reportedAt < Self.reportSeconds { return nil }
        let report = Report(sum: sinceReport, advice: advice)
        sinceReport = Gain()
        acrossURLs = Gain()
        reportedAt = now
        return report
    }

    private var advice: Advice? {
        guard sinceReport.percent < Self.goodPercent else { return nil }
        let isMostlyAcross = acrossURLs.samples * 2 > sinceReport.samples
        return isMostlyAcross ? .coversURL : .dictionaryOff
    }
}

extension RouteGain.Report {
    func text(of route: String) -> String {
        let sizes = "\(sum.deltaBytes) bytes instead of \(sum.plainBytes) in \(sum.samples) samples"
        let gain =
            sum.percent < 0
            ? "cost \(-sum.percent) % more than the best coding without a dictionary"
            : "save \(sum.percent) % of what the best coding without a dictionary sends"
        switch advice {
        case nil: return "route \(route): deltas \(gain) (\(sizes))"
        case .coversURL:
            return """
                route \(route): deltas \(gain) (\(sizes)), and most are made over bodies of other URLs: \
                set `covers: url` in its `dictionary`
                """
        case .dictionaryOff:
            return "route \(route): deltas \(gain) (\(sizes)): set `dictionary: off` on the route"
        }
    }
}
