internal import ArgumentParser
internal import Foundation
internal import Proxy
internal import Storage

struct PurgeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge",
        abstract: "Has a running proxy forget dictionaries: those of a user, a path, a route or a host.",
        discussion: """
            Asks the admin listener. Only versions that meet every given condition go, personal ones included; their bytes are \
            overwritten. With store.shared they go from there and from all nodes as well. Clients that hold a removed version \
            get whole responses. Later responses of the upstream become dictionaries again. Without a running proxy use \
            `dictum store rm`.
            """)

    @OptionGroup var admin: AdminOptions

    @OptionGroup var conditions: ConditionOptions

    @Option(
        help: ArgumentHelp(
            "Only versions of this user on routes with scope: private: an item of their identity and its value, such as cookie:session=abc. Once for each item; needs --host.",
            valueName: "item=value"))
    var user: [String] = []

    @Flag(help: "Report what would be removed on this node, and remove nothing.")
    var dryRun = false

    @Flag(help: "Print the result as JSON.")
    var json = false

    func validate() throws {
        guard !conditions.given.isEmpty || !user.isEmpty else {
            throw ValidationError("expected at least one of --host, --path, --route and --user")
        }
        guard user.isEmpty || conditions.host != nil else {
            throw ValidationError("--user needs --host HOST")
        }
    }

    func run() throws {
        let given = conditions.given.map { ($0.condition.rawValue, $0.value) } + user.map { ("user", $0) }
        var parameters = given.map { name, value in "\(name)=\(Self.encoded(value))" }
        if dryRun { parameters.append("dry_run=true") }
        let result = try admin.client().purge(parameters.joined(separator: "&"))
        let written = Result { try StandardOutput.write(result, isJSON: json, text(result)) }
        let faults = [
            result.erased == false
                ? "their bytes are still on the disk, so that a restart may bring them back: see the log"
                : nil,
            result.otherNodesTold == false
                ? "the shared store did not confirm, so other nodes may keep them" : nil,
        ].compactMap(\.self)
        guard faults.isEmpty else {
            throw CommandError(faults.joined(separator: "; ") + "; run this again")
        }
        try written.get()
    }

    private static func encoded(_ value: String) -> String {
        value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }

    private func text(_ result: PurgeReport) -> String {
        var text =
            "\(OutputFormat.count(result.removedVersions, "version")) \(result.dryRun ? "would be removed on this node" : "removed"), "
            + OutputFormat.size(result.removedBytes)
        if result.removedPersonalVersions > 0 {
            text += "; \(result.removedPersonalVersions) of them personal"
        }
        if result.otherNodesTold == true { text += "; the other nodes were told" }
        return text
    }
}
