internal import ArgumentParser
internal import Dictionaries
internal import Foundation
internal import HTTP

struct FetchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Fetches a URL as a client that supports dictionaries (RFC 9842).",
        discussion: """
            Keeps the dictionaries that servers offer, advertises the matching one, decodes and verifies the response, \
            and reports its cost on standard error. Bytes on the wire are those of the coded body. The certificate of an \
            https URL must lead to an authority of the system, of the file that SSL_CERT_FILE names, or of --ca. HTTP/2 \
            and HTTP/1.1 give the same bodies and dictionaries; -v names the version of each exchange. Only GET has dictionaries. \
            A delta that cannot be decoded costs a second request, without its dictionary. What is held is also asked about \
            (If-None-Match), unless -H has a condition, or another value of a field that Vary names; a 304 then gives its body. Fields of -H may be credentials, except \
            Accept, Accept-Language, Cache-Control, User-Agent and their like: requests with other values have other \
            dictionaries.
            """)

    @Argument(help: "The URL, such as http://127.0.0.1:8080/api/feed.")
    var url: String

    @Option(
        name: .short,
        help: ArgumentHelp("The file to write the body to (default: standard output)", valueName: "file"))
    var output: String?

    @Option(
        help: ArgumentHelp(
            "The folder to keep dictionaries in (default: ~/.cache/dictum)", valueName: "folder"))
    var cache: String?

    @Option(help: "The codings to accept.")
    var accept = CodingList.all

    @Option(help: ArgumentHelp("Overall time limit.", valueName: "seconds"))
    var maxTime = 60

    @OptionGroup var request: RequestOptions

    @OptionGroup var content: ContentOptions

    @Flag(
        name: [.customShort("L"), .customLong("location")],
        help:
            "Follow up to 50 redirects, with the method of -X. Unlike with curl, no field of -H that may be a credential goes to another origin."
    )
    var location = false

    @Flag(
        name: [.customShort("k"), .customLong("insecure")],
        help: "Accept any certificate. Dictionaries of such responses are kept apart.")
    var insecure = false

    @Flag(help: "Exit with 1 and write no body if the status is 400 or more.")
    var fail = false

    @Flag(name: .short, help: "Print the heads of the request and the response on standard error.")
    var verbose = false

    @Flag(help: "Print a report as JSON on standard output; the body is then written only with -o.")
    var json = false

    func validate() throws {
        try FetchDeadline.check(maxTime: maxTime)
        guard !json || output != "-" else {
            throw ValidationError(
                "--json writes the report to standard output: write the body to a file with -o")
        }
    }

    func run() throws {
        let deadline = FetchDeadline(seconds: maxTime)
        var (fetched, fetcher) = try fetch(until: deadline)
        let isFailure = fail && fetched.report.status >= 400
        if !isFailure, output != nil || !json { try OutputFile.write(fetched.body, toFile: output ?? "-") }
        fetcher.followLinks(of: &fetched, until: deadline)
        StandardError.write("dictum: \(fetched.line)")
        if json { try StandardOutput.write(OutputFormat.json(fetched.report)) }
        if isFailure { throw ExitCode.failure }
    }

    /// Fetches the URL, and with -L what it leads to.
    private func fetch(until deadline: FetchDeadline) throws -> (Fetched, by: Fetcher) {
        let directory = try cache ?? Self.defaultCache()
        var target = FetchTarget(
            url: try FetchURL(url), fields: try request.fields(),
            content: try content.content())
        for _ in 0...Redirect.countMax {
            let fetcher = try fetcher(for: target, directory)
            let fetched = try fetcher.fetch(target.url, until: deadline)
            guard location, let next = try target.next(after: fetched.head) else { return (fetched, fetcher) }
            target = next
        }
        throw FetchError.tooManyRedirects(target.url.text)
    }

    private func fetcher(for target: FetchTarget, _ directory: String) throws -> Fetcher {
        let protocols = try request.protocols(for: target.url, sending: target.content)
        let credentials = target.fields.credentials
        // What an unknown server gave is named to no other one.
        let user = insecure ? "insecure\n" + (credentials ?? "") : credentials
        var fetcher = try Fetcher(
            store: FetchStore(directory: directory, user: user), from: target.url, authority: request.ca,
            verifies: !insecure, protocols: protocols)
        (fetcher.fields, fetcher.content) = (target.fields, target.content)
        (fetcher.accepted, fetcher.isVerbose) = (accept, verbose)
        return fetcher
    }

    /// Returns `$XDG_CACHE_HOME/dictum` if that is absolute, else `~/.cache/dictum` (XDG Base Directory
    /// Specification).
    private static func defaultCache() throws(CommandError) -> String {
        let environment = ProcessInfo.processInfo.environment
        if let base = environment["XDG_CACHE_HOME"], base.hasPrefix("/") { return base + "/dictum" }
        guard let home = environment["HOME"], home.hasPrefix("/") else {
            throw CommandError("HOME is not set, so there is no folder for dictionaries; give --cache FOLDER")
        }
        return home + "/.cache/dictum"
    }
}
