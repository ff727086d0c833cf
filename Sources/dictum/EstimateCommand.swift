internal import ArgumentParser
internal import Foundation
internal import Glibc
internal import HTTP
internal import Proxy

struct EstimateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "estimate",
        abstract: "Measures what dictionaries would save on an API, before anything is deployed.",
        discussion: """
            A source is a URL, which is polled; a text file with one URL per line; a HAR file of a browser's developer \
            tools (saved with content); or a folder with one file per version, or with one such folder per resource. Codes \
            every version with the coders and settings of serve: without a dictionary, and over the versions before. \
            Judges what browsers do with the response as it is, as doctor does. Simulates clients that return at random \
            times against the real store, and suggests routes. Interrupt it (Ctrl-C) \
            to report on what was fetched so far, and again to end it.
            """)

    @Argument(help: ArgumentHelp("A URL, a list of URLs, a HAR file or a folder.", valueName: "source"))
    var sources: [String]

    @Option(
        help: ArgumentHelp(
            "The interval of polling; for folders, the time between two versions.", valueName: "duration"))
    var every = "30s"

    @Option(name: .customLong("for"), help: ArgumentHelp("The time of polling.", valueName: "duration"))
    var time = "10m"

    @Option(help: ArgumentHelp("The number of clients in the simulation.", valueName: "count"))
    var clients = 10_000

    @Option(
        help: ArgumentHelp(
            "How often clients return: apps (10 s to 4 h), browsers (3 min to 3 days), or a list such as 1m:20%,1h:80%.",
            valueName: "mix"))
    var returns = ClientMix.apps

    @Option(help: ArgumentHelp("The time to simulate.", valueName: "duration"))
    var simulate = "1d"

    @OptionGroup var request: RequestOptions

    @Option(
        help: ArgumentHelp(
            "Also write a report as one HTML file, or instead of the text to standard output (-).",
            valueName: "file"))
    var html: String?

    @Flag(help: "Print the estimate as JSON.")
    var json = false

    func validate() throws {
        try HistoryCollection.check(sources)
        guard let every = DurationText.seconds(every), 1...86_400 ~= every else {
            throw ValidationError("--every: expected a duration from 1s to 1d, such as 30s")
        }
        guard let time = DurationText.seconds(time), 0...7 * 86_400 ~= time else {
            throw ValidationError("--for: expected a duration up to 7d, such as 10m")
        }
        guard time / every < HistoryCollection.versionsMax else {
            throw ValidationError(
                "--for: expected at most \(HistoryCollection.versionsMax) times --every; poll less often")
        }
        guard 1...10_000_000 ~= clients else {
            throw ValidationError("--clients: expected a number from 1 to 10000000")
        }
        guard !json || html != "-" else {
            throw ValidationError("--json and --html -: expected one of them on standard output")
        }
        guard let simulate = DurationText.seconds(simulate), 10...7 * 86_400 ~= simulate else {
            throw ValidationError("--simulate: expected a duration from 10s to 7d, such as 1d")
        }
    }

    func run() throws {
        if let html { try Self.check(html) }
        let progress = ProgressBar(isWanted: !json)
        let collection = try HistoryCollection(
            of: sources, everySeconds: DurationText.seconds(every) ?? 30,
            forSeconds: DurationText.seconds(time) ?? 600, asksTwice: true, request, progress)
        let plan = ClientPlan(
            clients: clients, mix: returns, seconds: DurationText.seconds(simulate) ?? 86_400)
        let estimator = Estimator(plan: plan)
        let first = try EstimateReport.FirstResponses.all(of: collection, estimator, progress)
        let report = EstimateReport(collection, estimator, firstResponses: first, progress: progress)
        for warning in report.warnings { StandardError.write("dictum: \(warning)") }
        // An hour of polling is not lost because one of the two cannot be written.
        let written = Result {
            guard html != "-" else { return }
            try StandardOutput.write(report, isJSON: json, EstimateText.text(of: report))
        }
        if let html { try OutputFile.write(Array(EstimatePage.html(of: report).utf8), toFile: html) }
        try written.get()
    }

    /// Fails for a file of the report that cannot be written: behind all of the polling, that would be late.
    private static func check(_ name: String) throws(CommandError) {
        guard name != "-" else { return }
        // The texts are terminated and used during the calls only.
        let folder = URL(filePath: name).deletingLastPathComponent().path
        let place = unsafe access(name, F_OK) == 0 ? name : "\(folder)/."
        let why = unsafe access("\(name)/.", F_OK) == 0 ? EISDIR : access(place, W_OK) == 0 ? 0 : errno
        guard why == 0 else { throw CommandError("cannot write to \(name): \(SystemError(code: why).text)") }
    }
}
