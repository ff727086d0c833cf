internal import ArgumentParser
internal import Proxy

/// `dictum report`: says what dictionaries save, or would save, on a running proxy.
struct ReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Says what dictionaries save, or would save, on a running proxy.",
        discussion: """
            Asks the admin listener. For observed routes (mode: observe) it says what clients would have got: bytes per delta \
            against the best coding without a dictionary that they accept, the share of returning clients that would hold a \
            dictionary, and what prevents more. For live routes it says what was sent. With an experiment it compares both \
            sides, with intervals that have the true ratio in 95 of 100 cases.
            """)

    @OptionGroup var admin: AdminOptions

    @Flag(help: "Print the report as JSON.")
    var json = false

    func run() throws {
        let client = try admin.client()
        let report = try client.report()
        print(json ? OutputFormat.json(report) : ReportText.text(of: report), terminator: json ? "\n" : "")
    }
}
