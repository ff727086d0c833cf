internal import ArgumentParser
internal import Foundation
internal import Proxy

struct ManualCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "manual", abstract: "Prints the manual page, for man(1).")

    func run() throws {
        try StandardOutput.write(ManualPage.text(), terminator: "")
    }
}

struct VersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "version", abstract: "Prints the version.")

    func run() throws { try StandardOutput.write(DictumVersion.text) }
}

/// The manual page as man(7) source.
enum ManualPage {
    /// The parser's description of the commands (`--experimental-dump-help`).
    private struct Tool: Decodable {
        let command: Command
    }

    private struct Command: Decodable {
        let commandName: String
        let abstract: String?
        let discussion: String?
        let arguments: [Argument]?
        let subcommands: [Command]?
    }

    private struct Argument: Decodable {
        struct Name: Decodable {
            let kind: String
            let name: String

            var text: String { (kind == "long" ? "--" : "-") + name }
        }

        let abstract: String?
        let kind: String
        let names: [Name]?
        let shouldDisplay: Bool
        let valueName: String?
        let defaultValue: String?

        /// The description, with the default as `--help` shows it.
        var text: String {
            [abstract, defaultValue.map { "(default: \($0))" }].compactMap(\.self).joined(separator: " ")
        }
    }

    static func text() throws -> String {
        let dump = Dictum._dumpHelp()
        let root = try JSONDecoder().decode(Tool.self, from: Data(dump.utf8)).command
        let lines =
            [
                ".TH DICTUM 1 \"\" \"Dictum \(DictumVersion.text)\" \"User Commands\"", ".SH NAME",
                "dictum \\- \(escaped(root.abstract ?? ""))", ".SH SYNOPSIS", ".B dictum", ".I command",
                "[options]", ".SH COMMANDS",
            ] + commands(of: root, below: "dictum") + CommandTopics.all.flatMap(section)
        return lines.joined(separator: "\n") + "\n"
    }

    private static func section(_ topic: CommandTopics.Topic) -> [String] {
        [".SH \(topic.title)"]
            + topic.rows.flatMap { [".TP", "\\fB\(escaped($0.term))\\fR", escaped($0.text)] }
    }

    private static func commands(of parent: Command, below path: String) -> [String] {
        (parent.subcommands ?? []).filter { $0.commandName != "help" }.flatMap { command -> [String] in
            let own = "\(path) \(command.commandName)"
            let texts = [command.abstract, command.discussion].compactMap { $0 }.filter { !$0.isEmpty }
            let paragraphs = texts.map(escaped).joined(separator: "\n.PP\n")
            return [".SS \"\(escaped(own))\"", paragraphs] + (command.arguments ?? []).flatMap(lines)
                + commands(of: command, below: own)
        }
    }

    private static func lines(of argument: Argument) -> [String] {
        let names = (argument.names ?? []).map { "\\fB\(escaped($0.text))\\fR" }
        guard argument.shouldDisplay,
            argument.names?.contains(where: { ["help", "version"].contains($0.name) }) != true
        else { return [] }
        let value = argument.valueName.map { "\\fI\(escaped($0))\\fR" }
        let title =
            switch argument.kind {
            case "positional": value ?? ""
            case "flag": names.joined(separator: ", ")
            default: names.joined(separator: ", ") + (value.map { " " + $0 } ?? "")
            }
        return [".TP", title, escaped(argument.text)]
    }

    private static func escaped(_ text: String) -> String {
        let plain = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
        // A dot or an apostrophe at the start of a line begins a request of troff.
        return plain.split(separator: "\n", omittingEmptySubsequences: true).map { line in
            line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" + line : String(line)
        }.joined(separator: "\n")
    }
}
