/// The sums of all deltas, and of the samples that were also coded without a dictionary: together they say what deltas save.
///
/// The one rule for that is here: deltas would be as much of their bodies as their samples are in the best other coding. A
/// few deltas have most of the bytes of all, and which they are is chance, so that the ratio to the deltas of a few samples
/// says little; the ratio to their bodies hardly differs.
struct Gain: Sendable, Equatable {
    /// The samples as deltas and in the best other coding, and the bytes of their bodies.
    private(set) var sampled = DeltaSizes()
    private(set) var sampledBodyBytes = 0
    /// The sums of squares and products of the samples, for the error of the ratio.
    private var (bodySquares, plainSquares, products) = (0.0, 0.0, 0.0)
    /// All deltas, before and after coding.
    private(set) var bodyBytes = 0
    private(set) var deltaBytes = 0

    /// With fewer samples nothing is said about the error.
    static let samplesMin = 10

    mutating func count(bodyBytes: Int, deltaBytes: Int) {
        self.bodyBytes += bodyBytes
        self.deltaBytes += deltaBytes
    }

    mutating func sample(bodyBytes: Int, deltaBytes: Int, plainBytes: Int) {
        sampled.add(deltaBytes: deltaBytes, plainBytes: plainBytes)
        sampledBodyBytes += bodyBytes
        bodySquares += Double(bodyBytes) * Double(bodyBytes)
        plainSquares += Double(plainBytes) * Double(plainBytes)
        products += Double(bodyBytes) * Double(plainBytes)
    }

    /// Returns what bodies of so many bytes would take in the best other coding, and the half of the interval around it that
    /// has the true value in 95 of 100 cases; nil without samples, the latter with too few.
    func plain(ofBodies bytes: Int) -> (bytes: Int, margin: Int?)? {
        guard sampledBodyBytes > 0 else { return nil }
        let plain = Double(bytes) * Double(sampled.plainBytes) / Double(sampledBodyBytes)
        return (Int(plain.rounded()), ratioMargin.map { Int(Double(bytes) * $0) })
    }

    /// All deltas, and what they would be in the best other coding; nil without samples or deltas.
    var ofAll: DeltaSizes? {
        guard bodyBytes > 0, let plain = plain(ofBodies: bodyBytes) else { return nil }
        return DeltaSizes(count: sampled.count, deltaBytes: deltaBytes, plainBytes: plain.bytes)
    }

    /// The half of the interval around the ratio to the bodies that has the true one in 95 of 100 cases; nil with too few
    /// samples.
    ///
    /// The error of a ratio of means is that of the samples' distances from the line through zero with its slope.
    var ratioMargin: Double? {
        guard sampled.count >= Self.samplesMin, sampledBodyBytes > 0 else { return nil }
        let (count, sum) = (Double(sampled.count), Double(sampledBodyBytes))
        let ratio = Double(sampled.plainBytes) / sum
        let distances = max(0, plainSquares - 2 * ratio * products + ratio * ratio * bodySquares)
        let error = (distances * count / (count - 1)).squareRoot() / sum
        return RatioEstimate.quantile(degrees: count - 1) * error
    }
}

/// The savings of a route's deltas, against the best coding without a dictionary; `GainSampler` keeps one per route.
struct RouteGain: Sendable {
    struct Report: Sendable, Equatable {
        /// The deltas since the last report, with the number of their samples.
        let sum: DeltaSizes
        /// The setting that would help, or nil if the gain is good.
        let advice: Advice?
    }

    /// Settings that help if deltas save little.
    enum Advice: Sendable, Equatable {
        /// Most deltas are made over bodies of other URLs that have too little in common.
        case coversURL
        /// Most deltas are made over the route's built dictionary.
        case otherBuilt
        case dictionaryOff
    }

    /// The body that is the dictionary of a delta.
    enum Source: Sendable {
        case sameURL, otherURL, built
    }

    /// The least time between two reports of a route.
    static let reportSeconds = 3600
    static let reportSamplesMin = 16
    /// The percentage that deltas should save, because they also cost memory and time.
    static let goodPercent = 20

    /// The deltas since the start.
    private(set) var total = Gain()
    private var sinceReport = Gain()
    /// The numbers of samples since the report over the body of another URL, and over a built dictionary.
    private var (overOthers, overBuilt) = (0, 0)
    private var reportedAt: Int?

    mutating func count(bodyBytes: Int, deltaBytes: Int) {
        total.count(bodyBytes: bodyBytes, deltaBytes: deltaBytes)
        sinceReport.count(bodyBytes: bodyBytes, deltaBytes: deltaBytes)
    }

    /// Adds a sample; returns a report if one is due.
    mutating func sample(
        bodyBytes: Int, deltaBytes: Int, plainBytes: Int, over source: Source, now: Int
    ) -> Report? {
        total.sample(bodyBytes: bodyBytes, deltaBytes: deltaBytes, plainBytes: plainBytes)
        sinceReport.sample(bodyBytes: bodyBytes, deltaBytes: deltaBytes, plainBytes: plainBytes)
        overOthers += source == .otherURL ? 1 : 0
        overBuilt += source == .built ? 1 : 0
        guard let sum = sinceReport.ofAll, sum.count >= Self.reportSamplesMin else { return nil }
        if let reportedAt, now - reportedAt < Self.reportSeconds { return nil }
        let report = Report(sum: sum, advice: advice(about: sum))
        (sinceReport, overOthers, overBuilt, reportedAt) = (Gain(), 0, 0, now)
        return report
    }

    private func advice(about sum: DeltaSizes) -> Advice? {
        guard sum.percent < Self.goodPercent else { return nil }
        if overBuilt * 2 > sum.count { return .otherBuilt }
        return overOthers * 2 > sum.count ? .coversURL : .dictionaryOff
    }
}

extension RouteGain.Report {
    func text(of route: String) -> String {
        let sizes = "\(sum.deltaBytes) bytes instead of about \(sum.plainBytes), by \(sum.count) samples"
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
        case .otherBuilt:
            return """
                route \(route): deltas \(gain) (\(sizes)), and most are made over its built dictionary: make a new one with \
                `dictum train`, or remove `built`
                """
        case .dictionaryOff:
            return "route \(route): deltas \(gain) (\(sizes)): set `dictionary: off` on the route"
        }
    }
}
