internal import ArgumentParser
internal import HTTP
internal import Proxy

/// The root command; a new command is one more line in `subcommands`.
///
/// The parser exits with 64 (EX_USAGE) on wrong usage, with 1 on an error, and with the code of an `ExitCode`.
@main
struct Dictum: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dictum",
        abstract: "A reverse proxy that compresses answers as deltas over earlier ones (RFC 9842).",
        version: DictumVersion.text,
        subcommands: [
            ServeCommand.self,
            CheckCommand.self,
            DemoCommand.self,
            FetchCommand.self,
            DoctorCommand.self,
            StoreCommand.self,
            ReferenceCommand.self,
        ])

    static func main() {
        TLSLibrary.keepUntilTheEnd()
        main(nil)
    }
}
