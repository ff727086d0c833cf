internal import Foundation

/// The report as one HTML file without outside parts and scripts, for light and dark screens and for paper.
enum EstimatePage {
    /// The number of resources that are shown in full; the others appear in the table at the end.
    private static let fullMax = 24

    static func html(of report: EstimateReport) -> String {
        let ordered = report.resources.sorted { worth($0) > worth($1) }
        let shown = ordered.prefix(fullMax)
        let rest = ordered.dropFirst(fullMax)
        return """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
            <title>What compression dictionaries would save</title>
            <style>
            \(String(decoding: PackageResources.estimate_css, as: UTF8.self))</style>
            </head>
            <body>
            <header>
            <h1>What compression dictionaries would save</h1>
            <p class="lead">\(escaped(lead(report)))</p>
            \(tiles(report))
            </header>
            <main>
            \(shown.map(section).joined(separator: "\n"))
            \(rest.isEmpty ? "" : others(Array(rest)))
            \(first(report))
            \(routes(report))
            \(method(report))
            </main>
            </body>
            </html>

            """
    }

    // MARK: The head

    /// The bytes that the resource saves per day, so that the most important ones come first.
    private static func worth(_ resource: ResourceEstimate) -> Int {
        resource.clients?.day.map { $0.plainBytesPerDay - $0.bytesPerDay } ?? 0
    }

    private static func lead(_ report: EstimateReport) -> String {
        let measured = report.resources.filter { $0.savedShare != nil && $0.obstacle == nil }
        guard let best = measured.max(by: { ($0.savedShare ?? 0) < ($1.savedShare ?? 0) }),
            let share = best.savedShare
        else { return "Nothing can be said about savings yet: \(EstimateText.missing(report))." }
        return
            "A client that returns already holds an earlier version of most responses. With dictionary compression (RFC 9842) "
            + "it downloads only the difference: up to \(EstimateText.percent(share)) less than with the best coding of today."
    }

    private static func tiles(_ report: EstimateReport) -> String {
        let all = report.resources.compactMap(\.clients)
        guard let clients = all.first else { return "" }
        return tiles(all.compactMap(\.asIs), clients, "with the responses as they are")
            + tiles(all.compactMap(\.day), clients, "if dictionaries live for a day")
    }

    /// The sums over all resources, under one assumption about the life of dictionaries.
    private static func tiles(
        _ outcomes: [ClientOutcome], _ clients: ResourceEstimate.Clients, _ when: String
    ) -> String {
        guard !outcomes.isEmpty else { return "" }
        let (with, without) = outcomes.reduce((0, 0)) {
            ($0.0 + $1.bytesPerDay, $0.1 + $1.plainBytesPerDay)
        }
        let share = outcomes.reduce(0) { $0 + $1.holderShare } / Double(outcomes.count)
        let saved = without > 0 ? 1 - Double(with) / Double(without) : 0
        let tile = { (value: String, text: String) in
            "<div class=\"tile\"><strong>\(escaped(value))</strong><span>\(escaped(text))</span></div>"
        }
        return "<h2>\(escaped(when.prefix(1).uppercased() + when.dropFirst()))</h2><div class=\"tiles\">"
            + tile(EstimateText.percent(abs(saved)), "\(saved < 0 ? "more" : "fewer") bytes of bodies")
            + tile(
                "\(EstimateText.size(with)) per day",
                "instead of \(EstimateText.size(without)), for \(OutputFormat.grouped(clients.count)) clients"
            )
            + tile(EstimateText.percent(share), "of the requests of returning clients hold a dictionary")
            + "</div>"
    }

    // MARK: Resources

    private static func section(_ resource: ResourceEstimate) -> String {
        var parts = [
            "<section><h2>\(escaped(resource.name))</h2>",
            "<p class=\"seen\">\(escaped(EstimateText.summary(of: resource)))</p>",
        ]
        if let obstacle = resource.obstacle {
            parts.append("<p class=\"problem\">Dictum makes no dictionary of it: \(escaped(obstacle))</p>")
        }
        if resource.personal != nil {
            parts.append("<p>The response is personal: each client has dictionaries of its own.</p>")
        }
        parts.append("<div class=\"plots\">\(plots(resource))\(table(EstimateText.rows(of: resource)))</div>")
        let clients = EstimateText.clientLines(of: resource).map { "<li>\(escaped($0))</li>" }
        let browsers = EstimateText.browserLines(of: resource).map { line in
            let level = line.prefix { $0 != ":" }
            let isLevel = ["good", "warning", "problem"].contains(level)
            return "<li class=\"\(isLevel ? String(level) : "")\">\(escaped(line))</li>"
        }
        parts.append("<ul>\((clients + browsers).joined())</ul></section>")
        return parts.joined(separator: "\n")
    }

    private static func plots(_ resource: ResourceEstimate) -> String {
        let deltas = resource.nearest.map { [("dcz", $0.dcz), ("dcb", $0.dcb)] } ?? []
        let codings =
            resource.plain.named.map { ($0.name, $0.cost.bytes, $0.cost.cpuMicroseconds, false) }
            + deltas.map { ($0, $1.bytes, $1.indexedCpuMicroseconds, true) }
        let bytes = codings.map { name, bytes, _, isDelta in
            EstimatePlots.Bar(
                title: name, value: Double(bytes), text: EstimateText.size(bytes), isDelta: isDelta)
        }
        let times = codings.map { name, _, time, isDelta in
            EstimatePlots.Bar(title: name, value: time, text: EstimateText.time(time), isDelta: isDelta)
        }
        var figures = [
            figure("Bytes per response", EstimatePlots.bars(bytes, label: "Bytes per response, by coding")),
            figure(
                "Processor time per response", EstimatePlots.bars(times, label: "Processor time, by coding")),
        ]
        if resource.deltas.count > 1 {
            let lines = EstimatePlots.lines(
                [
                    .init(coding: "dcz", points: resource.deltas.map { ($0.versionsBack, $0.dcz.bytes) }),
                    .init(coding: "dcb", points: resource.deltas.map { ($0.versionsBack, $0.dcb.bytes) }),
                ], plainBytes: resource.plain.best.cost.bytes, plainTitle: resource.plain.best.name,
                label: "Bytes per response, by the age of the dictionary")
            figures.append(figure("Bytes by the age of the dictionary", lines))
        }
        if let shares = shares(resource) {
            figures.append(figure("Returning clients with a dictionary", shares))
        }
        return figures.joined()
    }

    private static func shares(_ resource: ResourceEstimate) -> String? {
        let outcomes = [("as it is", resource.clients?.asIs), ("one day", resource.clients?.day)]
        let bars = outcomes.compactMap { title, outcome in
            outcome.map { outcome in
                EstimatePlots.Bar(
                    title: title, value: outcome.holderShare, text: EstimateText.percent(outcome.holderShare),
                    isDelta: true)
            }
        }
        guard bars.count > 1 else { return nil }
        return EstimatePlots.bars(
            bars, label: "Share of requests of returning clients that hold a dictionary")
    }

    private static func figure(_ title: String, _ svg: String) -> String {
        "<figure><figcaption>\(escaped(title))</figcaption>\(svg)</figure>"
    }

    private static func others(_ resources: [ResourceEstimate]) -> String {
        let rows =
            [["URL", "versions", "best other", "dcz"]]
            + resources.map { resource in
                [
                    resource.name, "\(resource.versions)",
                    OutputFormat.grouped(resource.plain.best.cost.bytes),
                    resource.nearest.map { OutputFormat.grouped($0.dcz.bytes) } ?? "",
                ]
            }
        return "<section><h2>Other URLs</h2>\(table(rows))</section>"
    }

    private static func first(_ report: EstimateReport) -> String {
        guard !report.firstResponses.isEmpty else { return "" }
        let rows = [EstimateText.firstTitle] + report.firstResponses.map(EstimateText.firstCells)
        return
            "<section><h2>First responses</h2><p>Bytes of responses to clients that have no version of the URL. "
            + "<code>dictum train</code> makes the dictionary.</p>\(table(rows))</section>"
    }

    private static func table(_ rows: [[String]]) -> String {
        func line(_ cells: [String], _ tag: String) -> String {
            "<tr>\(cells.map { "<\(tag)>\(escaped($0))</\(tag)>" }.joined())</tr>"
        }
        let body = rows.dropFirst().map { line($0, "td") }.joined()
        return "<div class=\"scroll\"><table><thead>\(rows.first.map { line($0, "th") } ?? "")</thead>"
            + "<tbody>\(body)</tbody></table></div>"
    }

    // MARK: Routes and method

    private static func routes(_ report: EstimateReport) -> String {
        guard !report.suggestions.isEmpty else { return "" }
        let blocks = report.suggestions.map { suggestion in
            let origin = suggestion.origin.isEmpty ? "" : "<h3>\(escaped(suggestion.origin))</h3>"
            return origin + "<pre>\(escaped(suggestion.yaml))</pre>"
        }
        return "<section><h2>Suggested configuration</h2>\(blocks.joined())</section>"
    }

    private static func method(_ report: EstimateReport) -> String {
        let clients = report.resources.lazy.compactMap(\.clients).first
        let model = clients.map { clients in
            "\(OutputFormat.grouped(clients.count)) clients (\(clients.mix)) that return at random times are simulated against "
                + "the store and its limits. "
        }
        return """
            <section class="method"><h2>Method</h2><p>Every figure was measured with the coders and settings of \
            <code>dictum serve</code>, on the bodies of the responses; heads are not counted. CPU is the time of one processor of \
            this machine; that of deltas is with an indexed dictionary and includes the check that each is exact. \
            \(escaped(model ?? ""))The bytes per day compare with the best coding without a dictionary. \
            dcz is Zstandard and dcb is Brotli over a dictionary.</p></section>
            """
    }

    /// Escapes text for HTML, in elements and in quoted attributes.
    static func escaped(_ text: String) -> String {
        OutputFormat.plain(text.replacing("\n", with: "\u{F8FF}")).replacing("\u{F8FF}", with: "\n")
            .replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }
}
