internal import ArgumentParser
internal import Foundation
internal import Proxy

/// `dictum check`: validates a configuration and shows what each route comes to.
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Validates a configuration and reports all errors at once.")

    @Option(help: "The configuration file to check.")
    var config: String

    @Flag(help: "Print the result as JSON.")
    var json = false

    func run() throws {
        do throws(ConfigurationError) {
            let environment = ProcessInfo.processInfo.environment
            let configuration = try Configuration.load(
                file: config, environment: environment, looksAround: true)
            let check = ConfigurationCheck(configuration)
            print(json ? check.json : check.lines.joined(separator: "\n"))
            for line in configuration.warningLines(file: config) { StandardError.write(line) }
        } catch {
            if json { print(ConfigurationCheck.json(of: error)) }
            for line in error.lines(file: config) { StandardError.write(line) }
            throw ExitCode.invalidConfiguration
        }
    }
}

/// `dictum reference`: prints `config/reference.yaml`.
struct ReferenceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reference", abstract: "Prints every setting with its default.")

    func run() throws {
        print(ConfigurationReference.text, terminator: "")
    }
}
