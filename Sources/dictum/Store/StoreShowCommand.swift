internal import ArgumentParser
internal import Dictionaries

/// `dictum store show`: shows the versions that have a digest.
struct StoreShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows the versions that have a digest.")

    @Argument(help: DigestArgument.help, transform: DigestArgument.init(argument:))
    var digest: DigestArgument

    @OptionGroup var store: StoreOptions

    @Flag(help: "Print the versions as JSON.")
    var json = false

    private struct Report: Encodable {
        let versions: [VersionEntry]
    }

    func run() throws {
        try store.use { opened in
            let isCurrent = opened.isCurrent
            let entries = try opened.versions(digest).map { VersionEntry($0, isCurrent: isCurrent) }
            print(
                json
                    ? StoreText.json(Report(versions: entries))
                    : entries.map(\.lines).joined(separator: "\n\n"))
        }
    }
}
