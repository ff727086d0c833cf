internal import Foundation

enum EstimateText {
    static func text(of report: EstimateReport) -> String {
        var blocks = report.resources.map(text)
        if !report.firstResponses.isEmpty { blocks.append(text(of: report.firstResponses)) }
        blocks.append(text(of: report.suggestions, otherwise: missing(report)))
        return blocks.joined(separator: "\n")
    }

    static func text(of suggestions: [EstimateReport.Routes], otherwise reason: String) -> String {
        guard !suggestions.isEmpty else { return "No route is suggested: \(reason)\n" }
        return suggestions.map { suggestion in
            let origin = suggestion.origin.isEmpty ? "" : " for \(OutputFormat.plain(suggestion.origin))"
            return "Suggested routes\(origin):\n\n" + suggestion.yaml
        }.joined(separator: "\n")
    }

    static func text(of firstResponses: [EstimateReport.FirstResponses]) -> String {
        "First responses, to clients that have no version of the URL:\n\n"
            + OutputFormat.table([firstTitle] + firstResponses.map(firstCells)) + "\n"
    }

    /// The columns of the table of first responses.
    static let firstTitle = [
        "route", "without", "over a built dictionary", "against without", "its download", "pays after",
    ]

    static func firstCells(_ first: EstimateReport.FirstResponses) -> [String] {
        let built = first.builtBytes.map { [OutputFormat.grouped($0), ratio($0, first.plainBytes)] }
        return [first.match, OutputFormat.grouped(first.plainBytes)] + (built ?? ["none pays", ""]) + [
            first.downloadBytes.map(OutputFormat.grouped) ?? "",
            first.paysAfterResponses.map { OutputFormat.count($0, "response") } ?? "",
        ]
    }

    static func missing(_ report: EstimateReport) -> String {
        report.resources.contains { $0.obstacle == nil }
            ? "no URL had two different bodies; poll for longer, or give more versions"
            : "no response can be a dictionary"
    }

    private static func text(of resource: ResourceEstimate) -> String {
        var lines = [OutputFormat.plain(resource.name), "  " + summary(of: resource)]
        lines += OutputFormat.table(rows(of: resource)).split(separator: "\n").map { "  \($0)" }
        if let obstacle = resource.obstacle {
            lines.append("  Dictum makes no dictionary of it: \(obstacle)")
        }
        if let personal = resource.personal {
            lines.append("  It is personal (\(personal)): each client has dictionaries of its own")
        }
        lines += browserLines(of: resource).map { "  \($0)" }
        lines += clientLines(of: resource).map { "  \($0)" }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns what was seen, in one line.
    static func summary(of resource: ResourceEstimate) -> String {
        var parts = [
            OutputFormat.count(resource.responses, "response"),
            OutputFormat.count(resource.versions, "version"),
        ]
        if let share = resource.unchangedShare { parts.append("\(percent(share)) unchanged") }
        if resource.changesEachTime { parts.append("changes with every response") }
        if let period = resource.periodSeconds {
            let isAssumed = resource.url == nil
            parts.append("a new version every \(duration(period))" + (isAssumed ? " (assumed: --every)" : ""))
        }
        parts.append("\(OutputFormat.grouped(resource.bodyBytes)) bytes each")
        if let sent = resource.sentBytes { parts.append("sent as \(OutputFormat.grouped(sent))") }
        return parts.joined(separator: ", ")
    }

    /// Returns the table of codings, with its title.
    static func rows(of resource: ResourceEstimate) -> [[String]] {
        let best = resource.plain.best
        var rows = [["coding", "dictionary", "bytes", "CPU", "against \(best.name)"]]
        for (name, cost) in resource.plain.named {
            rows.append([
                name, "none", OutputFormat.grouped(cost.bytes), time(cost.cpuMicroseconds),
                name == best.name ? "" : ratio(cost.bytes, best.cost.bytes),
            ])
        }
        for delta in resource.deltas {
            for (name, cost) in [("dcz", delta.dcz), ("dcb", delta.dcb)] {
                rows.append([
                    name, back(delta.versionsBack), OutputFormat.grouped(cost.bytes),
                    time(cost.indexedCpuMicroseconds), ratio(cost.bytes, delta.plainBytes),
                ])
            }
        }
        return rows
    }

    /// Returns the sentences about browsers.
    static func browserLines(of resource: ResourceEstimate) -> [String] {
        guard let browser = resource.browser else {
            return ["Browsers: unknown, since files have no fields; poll the URL, or give a HAR file"]
        }
        let findings = browser.findings.map { "\($0.level): \($0.text)" }
        guard browser.keepsSeconds > 0, resource.obstacle == nil else { return findings }
        let life = duration(Double(browser.keepsSeconds))
        return [
            "good: Chromium keeps the response as a dictionary for \(life): fetch(url, {cache: \"no-cache\"}) advertises "
                + "it during that time; a plain fetch() reads the browser's own cache"
        ] + findings
    }

    /// Returns the sentences about clients.
    static func clientLines(of resource: ResourceEstimate) -> [String] {
        guard let clients = resource.clients else { return [] }
        let noun = clients.count == 1 ? "client" : "clients"
        let who = "\(OutputFormat.grouped(clients.count)) \(noun) (\(clients.mix))"
        func line(_ outcome: ClientOutcome, _ when: String) -> String {
            "\(who), \(when): \(percent(outcome.holderShare)) of the requests of returning clients hold a dictionary; "
                + "\(size(outcome.bytesPerDay)) per day instead of \(size(outcome.plainBytesPerDay))"
        }
        return [
            clients.asIs.map { line($0, "response as it is") },
            clients.day.map { line($0, "dictionaries that live for a day") },
        ].compactMap { $0 }
    }

    // MARK: Values

    static func back(_ versions: Int) -> String {
        versions == 1 ? "the version before" : "\(versions) versions before"
    }

    /// Returns the decrease or increase from the second number of bytes to the first.
    static func ratio(_ bytes: Int, _ other: Int) -> String {
        guard other > 0 else { return "" }
        let share = Double(bytes) / Double(other) - 1
        if share == 0 { return percent(0) }
        return share < 0 ? "-\(percent(-share))" : "+\(percent(share))"
    }

    /// Returns a share that is saved, or added if it is negative.
    static func change(saved: Double) -> String {
        saved >= 0 ? "\(percent(saved)) less" : "\(percent(-saved)) more"
    }

    /// Returns a share with one decimal place; 100 % only if it is exact.
    static func percent(_ share: Double) -> String {
        let tenths = (share * 1000).rounded()
        let shown = share < 1 ? min(999, tenths) : tenths
        return String(format: "%.1f %%", shown / 10)
    }

    static func time(_ microseconds: Double) -> String {
        microseconds >= 1000
            ? String(format: "%.1f ms", microseconds / 1000) : String(format: "%.0f µs", microseconds)
    }

    static func duration(_ seconds: Double) -> String {
        seconds < 10
            ? String(format: "%.1f s", seconds) : OutputFormat.duration(Int(bounding: seconds.rounded(.down)))
    }

    static func size(_ bytes: Int) -> String {
        OutputFormat.size(bytes, base: 1000, units: ["KB", "MB", "GB", "TB"])
    }

    /// Returns text as a double-quoted scalar of YAML.
    static func quoted(_ text: String) -> String {
        "\"" + OutputFormat.plain(text).replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}
