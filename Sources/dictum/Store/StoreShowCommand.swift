internal import ArgumentParser
internal import Dictionaries
internal import Storage

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
        try store.source.use { opened in
            let isCurrent = opened.isCurrent
            let entries = try opened.versions(digest).map { VersionEntry($0, isCurrent: isCurrent) }
            try StandardOutput.write(
                Report(versions: entries), isJSON: json, entries.map(\.lines).joined(separator: "\n\n"))
        }
    }
}

struct StoreExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Writes the body that has a digest, after verifying it.")

    @Argument(help: DigestArgument.help, transform: DigestArgument.init(argument:))
    var digest: DigestArgument

    @OptionGroup var store: StoreOptions

    @Option(
        name: .short,
        help: ArgumentHelp("The file to write the body to (default: standard output)", valueName: "file"))
    var output: String?

    func run() throws {
        try store.source.use { opened in
            let versions = try opened.versions(digest)
            guard let version = versions.first else { return }
            switch try opened.catalogue.body(ofAny: versions) {
            case .sound(let body):
                try OutputFile.write(body.bytes, toFile: output ?? "-")
            case .damaged(let reason):
                throw CommandError(
                    "the body \(version.digest.hex) is damaged: \(reason); `dictum store verify --repair` removes it"
                )
            case .gone:
                throw CommandError("the body \(version.digest.hex) was removed a moment ago")
            }
        }
    }
}
