internal import ArgumentParser
internal import Proxy

struct ReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Says what dictionaries save, or would save, on a running proxy.",
        discussion: """
            Asks the admin listener. For observed routes (mode: observe) it says what clients would have got: bytes per delta \
            against the best coding without a dictionary that they accept, the share of returning clients that would hold a \
            dictionary, and what prevents more. For live routes it says what was sent. With an experiment it compares both \
            sides, with intervals that have the true ratio in 95 of 100 cases. With --config it also reads the store, and says what \
            `dictum train` would make of the first responses of observed routes.
            """)

    @OptionGroup var admin: AdminOptions

    @Flag(help: "Print the report as JSON.")
    var json = false

    func run() throws {
        let savings = try admin.client().report()
        let report = RunningReport(savings: savings, firstResponses: firstResponses(savings))
        try StandardOutput.write(report, isJSON: json, ReportText.text(of: report))
    }

    /// Returns what built dictionaries would make of first responses on observed routes; nothing without the store.
    private func firstResponses(_ report: SavingsReport) -> [EstimateReport.FirstResponses] {
        guard let config = admin.config, report.routes.contains(where: { $0.mode == "observe" }) else {
            return []
        }
        var responses: [EstimateReport.FirstResponses] = []
        do {
            let configuration = try StoreSource.read(config)
            guard configuration.store.path != ":memory:" else { return [] }
            try OpenedStore.use(configuration.store.path, configuration) { opened in
                responses = try EstimateReport.FirstResponses.all(
                    of: report, opened.catalogue, Estimator(plan: ClientPlan()), ProgressBar(isWanted: !json))
            }
        } catch {
            StandardError.write("dictum: without first responses: \(OutputFormat.plain("\(error)"))")
        }
        return responses
    }
}
