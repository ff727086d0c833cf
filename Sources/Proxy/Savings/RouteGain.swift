/// Sampled deltas with the error of their ratio.
struct Gain: Sendable, Equatable {
    private(set) var sizes = DeltaSizes()
    /// The sums of squares and products, for the error of the ratio.
    private var (deltaSquares, plainSquares, products) = (0.0, 0.0, 0.0)

    /// With fewer samples nothing is said about the error.
    static let samplesMin = 10

    mutating func add(deltaBytes: Int, plainBytes: Int) {
        sizes.add(deltaBytes: deltaBytes, plainBytes: plainBytes)
        deltaSquares += Double(deltaBytes) * Double(deltaBytes)
        plainSquares += Double(plainBytes) * Double(plainBytes)
        products += Double(deltaBytes) * Double(plainBytes)
    }

    /// The half of the interval around `plainBytes / deltaBytes` that has the true ratio in 95 of 100 cases; nil with too
    /// few samples.
    ///
    /// The error of a ratio of means is that of the samples' distances from the line through zero with its slope.
    var ratioMargin: Double? {
        guard sizes.count >= Self.samplesMin, sizes.deltaBytes > 0 else { return nil }
        let (count, sum) = (Double(sizes.count), Double(sizes.deltaBytes))
        let ratio = Double(sizes.plainBytes) / sum
        let distances = max(0, plainSquares - 2 * ratio * products + ratio * ratio * deltaSquares)
        let error = (distances * count / (count - 1)).squareRoot() / sum
        return RatioEstimate.quantile(degrees: count - 1) * error
    }
}

/// The savings of a route's sampled deltas, against the best coding without a dictionary.
///
/// `GainSampler` keeps one per route.
struct RouteGain: Sendable {
    /// A report of a route for the log.
    struct Report: Sendable, Equatable {
        let sum: DeltaSizes
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
    private var sinceReport = DeltaSizes()
    /// The number of those whose dictionary is the body of another URL.
    private var acrossURLs = 0
    private var reportedAt: Int?

    /// Adds a sample; returns a report if one is due.
    mutating func record(deltaBytes: Int, plainBytes: Int, isAcrossURLs: Bool, now: Int) -> Report? {
        total.add(deltaBytes: deltaBytes, plainBytes: plainBytes)
        sinceReport.add(deltaBytes: deltaBytes, plainBytes: plainBytes)
        if isAcrossURLs { acrossURLs += 1 }
        guard sinceReport.count >= Self.reportSamplesMin else { return nil }
        if let reportedAt, now - reportedAt < Self.reportSeconds { return nil }
        let report = Report(sum: sinceReport, advice: advice)
        (sinceReport, acrossURLs, reportedAt) = (DeltaSizes(), 0, now)
        return report
    }

    private var advice: Advice? {
        guard sinceReport.percent < Self.goodPercent else { return nil }
        let isMostlyAcross = acrossURLs * 2 > sinceReport.count
        return isMostlyAcross ? .coversURL : .dictionaryOff
    }
}

extension RouteGain.Report {
    func text(of route: String) -> String {
        let sizes = "\(sum.deltaBytes) bytes instead of \(sum.plainBytes) in \(sum.count) samples"
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
