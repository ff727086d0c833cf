internal import ArgumentParser
internal import Glibc
internal import HTTP

/// `dictum doctor`: whether dictionaries will work between browsers and a URL.
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Says whether browsers will use dictionaries at a URL, and if not, why.",
        discussion: """
            Asks several times as a browser does, with and without a dictionary, through whatever lies between. A line \
            a finding says what is wrong and what to do. Exit code 0: dictionaries will work; 1: they will not. The \
            system's authorities are those that SSL_CERT_FILE names, where that is set.
            """)

    @Argument(help: "The URL, such as https://api.example.com/feed, that answers 200 without credentials.")
    var url: String

    @Option(help: ArgumentHelp("Trust the authorities in this file (PEM) too.", valueName: "file"))
    var ca: String?

    @Option(help: ArgumentHelp("The time that all may take.", valueName: "seconds"))
    var maxTime = 60

    @Flag(help: "Print the findings as JSON.")
    var json = false

    func validate() throws {
        guard 1...86_400 ~= maxTime else { throw ValidationError("--max-time is from 1 to 86400 seconds") }
    }

    func run() throws {
        signal(SIGPIPE, SIG_IGN)
        let seen = try examine()
        let report = DoctorReport(Diagnosis(seen), of: seen.url)
        if json {
            print(StoreText.json(report))
        } else {
            for line in report.lines { print(line) }
        }
        if !report.works { throw ExitCode.failure }
    }

    private func examine() throws -> DoctorObservations {
        do {
            return try Doctor(url: FetchURL(url), authority: ca, secondsMax: maxTime).examine()
        } catch let error as FetchError {
            StandardError.write("dictum: \(error)")
        } catch let error as TLSError {
            StandardError.write("dictum: \(error.text)")
        }
        // Both are about what was given to the command.
        throw ExitCode.validationFailure
    }
}
