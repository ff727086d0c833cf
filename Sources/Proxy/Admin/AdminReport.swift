internal import Dictionaries
internal import Foundation
internal import Storage

/// The report of `/report`: what dictionaries save, or would save, per route.
extension AdminStatus {
    /// The report as JSON; blocks.
    var reportJSON: String {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Strings, numbers and Booleans cannot fail to encode.
        return (try? encoder.encode(report())).map { String(decoding: $0, as: UTF8.self) + "\n" } ?? "{}\n"
    }

    /// Returns the report; blocks.
    private func report() -> SavingsReport {
        let context = context
        let statistics = context.store.statistics
        var report = SavingsReport(
            seconds: secondsSinceStart, dictionariesOn: areDictionariesOn,
            store: .init(
                versions: statistics.versions, chains: statistics.chains, memoryBytes: statistics.memoryBytes,
                diskBytes: statistics.diskBytes))
        let configuration = context.configuration
        let tallies = context.observer.tallies
        if configuration.observesAnyRoute || !tallies.isEmpty { report.observing = context.observer.cost }
        report.experiment = context.experiment.map(SavingsReport.Experiment.init)
        let sent = LiveTotals(samples(), context.gain.totals)
        for route in configuration.routes {
            let mode = route.dictionary == nil ? "off" : configuration.observes(route) ? "observe" : "live"
            var entry = SavingsReport.Route(route: route.text, mode: mode, live: sent[route.text])
            let own = tallies.filter { $0.key.route == route.text }
            if !own.isEmpty { entry.observed = .init(own.values) }
            entry.groups = own.sorted { ($0.key.authority, $0.key.match) < ($1.key.authority, $1.key.match) }
                .map {
                    .init(authority: $0.key.authority, match: $0.key.match, observed: .init([$0.value]))
                }
            report.routes.append(entry)
        }
        return report
    }
}

/// The responses that were sent, by route, as the metrics count them.
struct LiveTotals {
    private var routes: [String: SavingsReport.Live] = [:]

    init(_ samples: [MetricSample], _ gains: [String: Gain]) {
        for sample in samples where sample.metric.labels.first == "route" {
            add(sample, to: &routes[sample.labels[0], default: .init()])
        }
        for (route, gain) in gains {
            routes[route, default: .init()].sampled = .init(
                count: gain.samples, deltaBytes: gain.deltaBytes, plainBytes: gain.plainBytes)
            routes[route]?.sampledRatioMargin = gain.ratioMargin
        }
    }

    /// The totals of all routes that have had a response.
    var all: [SavingsReport.Live] { routes.values.filter { $0.requests > 0 } }

    /// Returns the totals of a route; nil without a response.
    subscript(route: String) -> SavingsReport.Live? { routes[route].flatMap { $0.requests > 0 ? $0 : nil } }

    private func add(_ sample: MetricSample, to route: inout SavingsReport.Live) {
        switch sample.metric.name {
        case "dictum_requests_total":
            route.requests += sample.count
            route.codings[sample.labels[1], default: 0] += sample.count
            let coding = ContentCoding(rawValue: sample.labels[1])
            if coding?.usesDictionary == true {
                route.deltas += sample.count
                if sample.labels[2] == Reason.deltaBuilt.text {
                    route.built = route.built ?? .init()
                    route.built?.responses += sample.count
                }
            } else {
                route.reasons[sample.labels[2], default: 0] += sample.count
            }
        case "dictum_body_bytes_total" where sample.labels[1] == "before": route.bodyBytes += sample.count
        case "dictum_body_bytes_total": route.sentBytes += sample.count
        case "dictum_delta_body_bytes_total" where sample.labels[1] == "before":
            route.deltaBodyBytes += sample.count
        case "dictum_delta_body_bytes_total": route.deltaBytes += sample.count
        case "dictum_built_body_bytes_total":
            route.built = route.built ?? .init()
            if sample.labels[1] == "before" {
                route.built?.bodyBytes += sample.count
            } else {
                route.built?.sentBytes += sample.count
            }
        default: break
        }
    }
}
