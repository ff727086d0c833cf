internal import ArgumentParser
internal import Foundation
internal import Proxy

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Validates a configuration and reports all errors at once.",
        discussion: """
            With --admin, it asks a running proxy that observes (mode: observe) and suggests routes by what it has seen, with \
            their reasons.
            """)

    @Option(help: "The configuration file to check.")
    var config: String?

    @Option(
        help: ArgumentHelp(
            "The URL of the admin listener of a proxy that observes; suggests routes. DICTUM_ADMIN_TOKEN is its token, if set.",
            valueName: "url"))
    var admin: String?

    @Flag(help: "Print the result as JSON.")
    var json = false

    func validate() throws {
        guard (config == nil) != (admin == nil) else {
            throw ValidationError("expected either --config FILE or --admin URL")
        }
    }

    func run() throws {
        guard let config else { return try suggest() }
        let configuration: Configuration
        do throws(ConfigurationError) {
            let environment = ProcessInfo.processInfo.environment
            configuration = try Configuration.load(file: config, environment: environment, looksAround: true)
        } catch {
            for line in error.lines(file: config) { StandardError.write(line) }
            // The status of the file says more than that of a full disk.
            if json { try? StandardOutput.write(ConfigurationCheck.json(of: error)) }
            throw ExitCode.invalidConfiguration
        }
        for line in configuration.warningLines(file: config) { StandardError.write(line) }
        let check = ConfigurationCheck(configuration)
        try StandardOutput.write(json ? check.json : check.lines.joined(separator: "\n"))
    }

    /// Prints the routes that a running proxy suggests.
    private func suggest() throws {
        let client = try AdminOptions.client(config: nil, admin: admin)
        let suggestions = ObservedSuggestions(try client.report())
        try StandardOutput.write(suggestions, isJSON: json, suggestions.text)
    }
}

struct ReferenceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reference", abstract: "Prints every setting with its default.")

    func run() throws {
        try StandardOutput.write(ConfigurationReference.text, terminator: "")
    }
}
