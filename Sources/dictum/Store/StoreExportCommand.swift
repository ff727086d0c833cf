internal import ArgumentParser
internal import Dictionaries
internal import Glibc

/// `dictum store export`: writes a stored body.
struct StoreExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Writes the body that has a digest, after verifying it.")

    @Argument(help: DigestArgument.help, transform: DigestArgument.init(argument:))
    var digest: DigestArgument

    @OptionGroup var store: StoreOptions

    @Option(
        name: .short,
        help: ArgumentHelp("The file to write the body to (default: standard output).", valueName: "file"))
    var output = "-"

    func run() throws {
        signal(SIGPIPE, SIG_IGN)
        try store.use { opened in
            let versions = try opened.versions(digest)
            guard let version = versions.first else { return }
            switch try opened.catalogue.body(ofAny: versions) {
            case .sound(let body):
                do throws(FetchError) {
                    try BodyOutput.write(body.bytes, to: output)
                } catch {
                    throw StoreFailure("\(error)")
                }
            case .damaged(let reason):
                throw StoreFailure(
                    "the body \(version.digest.hex) is damaged: \(reason); `dictum store verify --repair` removes it"
                )
            case .gone:
                throw StoreFailure("the body \(version.digest.hex) was removed a moment ago")
            }
        }
    }
}
