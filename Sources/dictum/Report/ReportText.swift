internal import Dictionaries
internal import Foundation
internal import HTTP
internal import Primitives
internal import Proxy

/// The report of a running proxy as text for a terminal.
enum ReportText {
    static func text(of report: RunningReport) -> String {
        var blocks = report.savings.routes.map { text(of: $0) }
        if !report.firstResponses.isEmpty { blocks.append(EstimateText.text(of: report.firstResponses)) }
        if let experiment = report.savings.experiment { blocks.append(text(of: experiment)) }
        blocks.append(footer(of: report.savings))
        return blocks.joined(separator: "\n")
    }

    // MARK: Routes

    private static func text(of route: SavingsReport.Route) -> String {
        var lines: [String] = []
        if route.mode == "live", let live = route.live { lines += liveLines(live) }
        if let observed = route.observed {
            let isOver = route.mode != "observe"
            if isOver { lines.append("observed before:") }
            lines += observedLines(observed, isOver: isOver)
        }
        if lines.isEmpty { lines = [route.mode == "off" ? "dictionaries are off" : "no responses yet"] }
        return ([OutputFormat.plain(route.route) + " (\(route.mode))"] + lines.map { "  \($0)" })
            .joined(separator: "\n") + "\n"
    }

    private static func liveLines(_ live: SavingsReport.Live) -> [String] {
        var lines = [
            "\(OutputFormat.count(live.requests, "response")), \(hitRate(of: live)) over a dictionary; bodies "
                + "of \(EstimateText.size(live.bodyBytes)) sent as \(EstimateText.size(live.sentBytes))"
        ]
        if live.deltas > 0 {
            lines.append(
                "\(OutputFormat.grouped(live.deltaBytes / live.deltas)) bytes per delta" + gain(of: live))
        }
        return lines + reasonLines(live.reasons, "not over a dictionary")
    }

    private static func observedLines(_ observed: SavingsReport.Observed, isOver: Bool) -> [String] {
        var lines = [
            [
                OutputFormat.count(observed.responses, "response"),
                OutputFormat.count(observed.versions, "version"),
                OutputFormat.count(observed.urls, "URL"), "\(observed.skipped) not measured",
            ].joined(separator: ", ")
        ]
        if let share = observed.holderShare {
            lines.append(
                "\(EstimateText.percent(share)) of the requests of returning clients (\(observed.returns)) would have got a "
                    + "delta")
        }
        if observed.firsts > 0 {
            lines.append(
                "\(OutputFormat.count(observed.firsts, "first response")), to clients that had no version of the path"
            )
        }
        if observed.measured.count > 0 {
            lines.append(
                "\(OutputFormat.grouped(observed.measured.meanDeltaBytes)) bytes per delta\(gain(observed.measured))"
            )
            if !isOver { lines.append(perDay(observed)) }
            lines += OutputFormat.table(rows(observed.ages)).split(separator: "\n").map { "  \($0)" }
        }
        lines += observed.lacks.sorted { $0.key < $1.key }.map { lack, count in
            "\(OutputFormat.count(count, "return")) without a dictionary: \(ReportAdvice.lack(lack))"
        }
        lines += reasonLines(observed.obstacles, "could not use or become a dictionary")
        lines += reasonLines(observed.unkept, "that no browser keeps")
        return lines
            + ReportAdvice.findings(observed).map { "\($0.level.rawValue): \(OutputFormat.plain($0.text))" }
    }

    /// Returns the gain of all deltas, and how many of them were coded without a dictionary too.
    private static func gain(of live: SavingsReport.Live) -> String {
        guard let plainBytes = live.deltaPlainBytes else { return "" }
        let sizes = DeltaSizes(count: live.deltas, deltaBytes: live.deltaBytes, plainBytes: plainBytes)
        let samples = OutputFormat.count(live.sampled.count, "sample")
        let rough = live.deltaPlainMargin == nil ? ": too few, so this is rough" : ""
        return gain(sizes) + " (by \(samples)\(rough))"
    }

    private static func gain(_ sizes: DeltaSizes) -> String {
        guard let saved = sizes.savedShare, sizes.count > 0 else { return "" }
        let plain = OutputFormat.grouped(sizes.meanPlainBytes)
        return " instead of \(plain) in the best other coding, \(EstimateText.change(saved: saved))"
    }

    /// The least seconds from which a day is extrapolated.
    private static let leastSeconds = 3_600.0

    static func perDay(_ observed: SavingsReport.Observed) -> String {
        guard observed.seconds >= leastSeconds else {
            return
                "no figure per day yet: observed for \(EstimateText.duration(observed.seconds)), and that takes an hour"
        }
        let bytes = observed.savedBytes * 86_400 / max(1, observed.seconds)
        let text = EstimateText.size(Int(bounding: abs(bytes)))
        return
            "about \(text) per day \(bytes < 0 ? "more would be sent" : "would be saved"), from \(EstimateText.duration(observed.seconds))"
    }

    private static func rows(_ ages: [SavingsReport.Age]) -> [[String]] {
        var rows = [["versions back", "deltas", "bytes", "instead of"]]
        var least = 0
        for age in ages {
            let range = age.versionsBackMax.map { $0 == least ? "\($0)" : "\(least) to \($0)" } ?? "more"
            least = (age.versionsBackMax ?? 0) + 1
            guard age.sizes.count > 0 else { continue }
            rows.append([
                range, OutputFormat.grouped(age.sizes.count), OutputFormat.grouped(age.sizes.meanDeltaBytes),
                OutputFormat.grouped(age.sizes.meanPlainBytes),
            ])
        }
        return rows
    }

    private static func reasonLines(_ reasons: [String: Int], _ what: String) -> [String] {
        reasons.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(8).map { name, count in
            let advice = Reason(text: name).flatMap(\.advice).map { ": \($0)" } ?? ""
            return "\(OutputFormat.count(count, "response")) \(what), \(OutputFormat.plain(name))\(advice)"
        }
    }

    // MARK: Experiment and cost

    private static func text(of experiment: SavingsReport.Experiment) -> String {
        var lines = [
            "Experiment, \(EstimateText.percent(experiment.holdout)) of the clients without dictionaries"
        ]
        for (name, arm) in [("with", experiment.treated), ("without", experiment.heldOut)] {
            guard let bytes = arm.bytesPerRequest, let seconds = arm.secondsPerRequest else {
                lines.append("  \(name): no responses yet")
                continue
            }
            lines.append(
                "  \(name): \(OutputFormat.count(arm.requests, "response")) to \(OutputFormat.count(arm.units, "group")) of "
                    + "clients, \(OutputFormat.grouped(Int(bounding: bytes))) bytes and "
                    + "\(EstimateText.time(seconds * 1e6)) each")
        }
        if let bytes = experiment.bytes { lines.append("  bytes: \(ratio(bytes))") }
        if let duration = experiment.duration { lines.append("  time: \(ratio(duration))") }
        if experiment.bytes == nil { lines.append("  too few clients to compare") }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func ratio(_ ratio: SavingsReport.Ratio) -> String {
        func change(_ value: Double) -> String { String(format: "%+.1f %%", (value - 1) * 100) }
        return
            "\(change(ratio.value)) with dictionaries (95 % interval: \(change(ratio.low)) to \(change(ratio.high)))"
    }

    private static func footer(of report: SavingsReport) -> String {
        var lines = [
            "Store: \(OutputFormat.count(report.store.versions, "version")) in "
                + "\(OutputFormat.count(report.store.chains, "chain")), \(OutputFormat.size(report.store.diskBytes)) on disk, "
                + "\(OutputFormat.size(report.store.memoryBytes)) in memory"
        ]
        if let cost = report.observing {
            lines.append(
                "Observing: \(EstimateText.percent(cost.cpuUsed)) of a core (\(EstimateText.percent(cost.cpuAllowed)) allowed), "
                    + "\(EstimateText.percent(cost.clientShare)) of the clients")
        }
        if !report.dictionariesOn { lines.append("Dictionaries are switched off.") }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func hitRate(of live: SavingsReport.Live) -> String {
        let share = EstimateText.percent(live.hitRate ?? 0)
        return live.notModified > 0
            ? "\(OutputFormat.grouped(live.notModified)) of them 304, \(share) of the others" : share
    }
}

/// The causes that prevent deltas, with the change that removes each.
enum ReportAdvice {
    /// Returns the findings of the doctor about the responses as they are.
    static func findings(_ observed: SavingsReport.Observed) -> [DoctorFinding] {
        guard !observed.fields.isEmpty else { return [] }
        var headers = Headers()
        for (name, value) in observed.fields.sorted(by: { $0.key < $1.key }) {
            guard let name = HeaderName(name) else { continue }
            for line in value.split(separator: "\n") { headers.append(name, String(line)) }
        }
        let now = Int64(SystemClock.unixSeconds)
        let sent = headers.first(.date).flatMap { HTTPDate.unixSeconds($0, now: now) }
        return ResponseJudgement(
            headers: headers, receivedAt: sent ?? now,
            credentials: 2 * observed.credentials > observed.responses ? .cookie : [],
            changesEachTime: observed.revisits > 3 && observed.unchanged == 0
        ).findings
    }

    /// Returns why a client that was here before holds nothing.
    static func lack(_ name: String) -> String {
        switch name {
        case "expired":
            "the response was no longer fresh; a longer max-age or stale-while-revalidate keeps it"
        case "unkept": "no browser keeps the response; see below"
        case "evicted": "the store has no longer the version; see store.max_size"
        case "never-offered": "its former responses offered none; see below"
        default: OutputFormat.plain(name)
        }
    }
}

/// The report of a running proxy, with the first responses that its store tells of.
struct RunningReport: Encodable {
    private enum CodingKeys: CodingKey { case firstResponses }

    let savings: SavingsReport
    let firstResponses: [EstimateReport.FirstResponses]

    /// The keys of the proxy's report, and one more.
    func encode(to encoder: any Swift.Encoder) throws {
        try savings.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(firstResponses, forKey: .firstResponses)
    }
}
