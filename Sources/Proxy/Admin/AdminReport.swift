internal import Dictionaries
internal import Storage

/// The report of `/report`: what dictionaries save, or would save, per route.
extension AdminStatus {
    func report() -> SavingsReport {
        let context = context
        let statistics = context.store.statistics
        var report = SavingsReport(
            seconds: secondsSinceStart, dictionariesOn: areDictionariesOn,
            store: .init(
                versions: statistics.versions, chains: statistics.chains, memoryBytes: statistics.memoryBytes,
                diskBytes: statistics.diskBytes))
        let configuration = context.configuration
        let tallies = context.observer.reports
        if !configuration.observedRoutes.isEmpty || !tallies.isEmpty {
            report.observing = context.observer.cost
        }
        report.experiment = context.experiment.map(SavingsReport.Experiment.init)
        let sent = SavingsReport.Live.byRoute(snapshot().samples, context.gain.totals)
        for route in configuration.routes {
            let hasDictionary = configuration.dictionariesOn && route.dictionary != nil
            let mode = !hasDictionary ? "off" : configuration.observes(route) ? "observe" : "live"
            var entry = SavingsReport.Route(route: route.text, mode: mode, live: sent[route.text])
            let own = tallies.filter { $0.key.route == route.text }
            if !own.isEmpty { entry.observed = .init(Array(own.values)) }
            entry.groups = own.sorted { ($0.key.authority, $0.key.match) < ($1.key.authority, $1.key.match) }
                .map {
                    .init(authority: $0.key.authority, match: $0.key.match, observed: $0.value)
                }
            entry.learned = context.routes.learners.first { $0.text == route.text }.map(context.learned.rows)
            report.routes.append(entry)
        }
        return report
    }
}

extension SavingsReport.Live {
    /// Returns what was sent on each route that has had a response, as the metrics count it.
    static func byRoute(_ samples: [MetricSample], _ gains: [String: Gain]) -> [String: Self] {
        let routes = Dictionary(grouping: samples.filter { $0.metric.labels.first == "route" }) {
            $0.labels[0]
        }
        let all = routes.map { ($0, Self(SampleTable($1), gains[$0] ?? Gain())) }
        return Dictionary(uniqueKeysWithValues: all).filter { $1.requests > 0 }
    }

    /// Reads the samples of one route.
    private init(_ table: SampleTable, _ gain: Gain) {
        var built = SavingsReport.Built()
        for sample in table["dictum_requests_total"] {
            let (coding, reason) = (sample.labels[1], sample.labels[2])
            requests += sample.count
            codings[coding, default: 0] += sample.count
            if ContentCoding(rawValue: coding)?.usesDictionary == true {
                deltas += sample.count
                if reason == Reason.deltaBuilt.text { built.responses += sample.count }
            } else {
                reasons[reason, default: 0] += sample.count
            }
        }
        (bodyBytes, sentBytes) = Self.stages("dictum_body_bytes_total", table)
        (deltaBodyBytes, deltaBytes) = Self.stages("dictum_delta_body_bytes_total", table)
        (built.bodyBytes, built.sentBytes) = Self.stages("dictum_built_body_bytes_total", table)
        if built.responses > 0 { self.built = built }
        estimate(by: gain)
    }

    /// Estimates what the deltas would be in the best other coding.
    mutating func estimate(by gain: Gain) {
        sampled = gain.sampled
        guard let plain = gain.plain(ofBodies: deltaBodyBytes) else { return }
        (deltaPlainBytes, deltaPlainMargin) = (plain.bytes, plain.margin)
    }

    private static func stages(_ name: String, _ table: SampleTable) -> (before: Int, after: Int) {
        func bytes(_ stage: String) -> Int {
            table[name].reduce(0) { $1.labels[1] == stage ? $0 + $1.count : $0 }
        }
        return (bytes("before"), bytes("after"))
    }
}
