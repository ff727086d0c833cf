internal import ArgumentParser
internal import Glibc
internal import HTTP
internal import Proxy

/// The root command; a new command is one more line in `subcommands`.
///
/// The parser exits with 64 (EX_USAGE) on wrong usage, with 1 on an error, and with the code of an `ExitCode`.
@main
struct Dictum: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dictum",
        abstract: "A reverse proxy that sends responses as deltas over earlier ones (RFC 9842).",
        discussion: CommandTopics.text,
        version: DictumVersion.text,
        subcommands: [
            ServeCommand.self,
            CheckCommand.self,
            DemoCommand.self,
            FetchCommand.self,
            DoctorCommand.self,
            ConformanceCommand.self,
            EstimateCommand.self,
            TrainCommand.self,
            ReportCommand.self,
            PurgeCommand.self,
            DecodeCommand.self,
            StoreCommand.self,
            ReferenceCommand.self,
            ManualCommand.self,
            VersionCommand.self,
        ])

    /// The word before the colon of the parser's errors: theirs look as those of the commands.
    static let _errorLabel = "dictum"

    static func main() {
        StandardStreams.fill()
        // A write to a closed pipe then fails with an error that we report, instead of ending the process.
        signal(SIGPIPE, SIG_IGN)
        TLSLibrary.keepUntilTheEnd()
        if let mistake = mistake(in: CommandLine.arguments.dropFirst()) {
            StandardError.write("dictum: \(mistake)")
            exit(withError: ExitCode.validationFailure)
        }
        do {
            do {
                var command = try parseAsRoot(JoinedOptions.split(CommandLine.arguments.dropFirst()))
                try command.run()
            } catch  where exitCode(for: error).isSuccess {
                // Help, or what else the parser would print without a look whether it arrives.
                try StandardOutput.write(fullMessage(for: error))
            }
        } catch {
            exit(withError: shown(error))
        }
    }

    /// Returns an error in the form that the parser prints on one line, or an exit code once it is printed.
    private static func shown(_ error: any Error) -> any Error {
        switch error {
        case let error as FetchError where error.isUsage: return misused(error.description)
        // They are all about files that options name.
        case let error as TLSError: return misused(error.text)
        case let error as FetchError: return CommandError(OutputFormat.plain(error.description))
        case let error as CommandError: return CommandError(OutputFormat.plain(error.description))
        case let error as StartError: return CommandError(error.textForOptions)
        default: return error
        }
    }

    private static func misused(_ text: String) -> ExitCode {
        StandardError.write("dictum: \(OutputFormat.plain(text))")
        return .validationFailure
    }

    static var commandNames: [String] {
        configuration.subcommands.compactMap { $0.configuration.commandName }
    }

    /// Returns an error text for a word that is no command, with the nearest command; nil for known commands.
    ///
    /// The argument parser itself says only that the word is unexpected.
    static func mistake(in arguments: some Sequence<String>) -> String? {
        var subcommands = configuration.subcommands
        var words = Array(arguments)
        // The words behind it are commands, too.
        if words.first == "help" { words.removeFirst() }
        if let mistake = misplacedFile(in: words) { return mistake }
        for word in words {
            guard !subcommands.isEmpty, !word.hasPrefix("-"), word != "help" else { return nil }
            let next = subcommands.first {
                $0.configuration.commandName == word || $0.configuration.aliases.contains(word)
            }
            guard let next else {
                let names = subcommands.compactMap { $0.configuration.commandName }
                let help = word.nearest(in: names).map { "did you mean \"\($0)\"?" }
                return
                    "unknown command \"\(OutputFormat.plain(word))\": \(help ?? "expected one of \(names.joined(separator: ", "))")"
            }
            subcommands = next.configuration.subcommands
        }
        return nil
    }

    /// Returns an error text for a file or a URL behind a command that takes it by an option only; nil without one.
    private static func misplacedFile(in words: [String]) -> String? {
        guard words.count > 1, case let (command, word) = (words[0], words[1]), !word.hasPrefix("-"),
            ["serve", "check", "report", "purge"].contains(command)
        else { return nil }
        let shown = OutputFormat.plain(word)
        if command == "purge", !word.contains("://") {
            return
                "unexpected argument \"\(shown)\": name what to forget by --host, --path, --route or --user"
        }
        let option = !word.contains("://") ? "--config" : command == "serve" ? "--upstream" : "--admin"
        return "unexpected argument \"\(shown)\": did you mean \(option) \(shown)?"
    }
}
