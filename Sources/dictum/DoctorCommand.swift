internal import ArgumentParser
internal import Dictionaries
internal import HTTP
internal import Redis

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Checks whether browsers will use dictionaries at a URL, and if not, why.",
        discussion: """
            Requests the URL several times as a browser does, with and without a dictionary, through all proxies and \
            caches in between. Prints one line per finding, with its cause and what to do. Exit code 0: dictionaries will \
            work; 1: they will not. Chromium's rules decide what a browser keeps. With --browser, a real Chromium on this \
            machine loads a page of the same origin and fetches the URL several times, past its own cache. One row per \
            fetch shows whether a dictionary was advertised, the coding, the bytes on the wire including heads, and the \
            size of the body. With -d or -X QUERY the URL is examined for requests with content, which reach the server six \
            times: choose one that changes nothing there. Over TLS the server chooses HTTP/2 or HTTP/1.1, as for browsers. SSL_CERT_FILE names the system's certificate authorities, if it is set.

            With the URL of a Redis or Valkey server, such as redis://127.0.0.1:6379, it checks whether proxies can share \
            their dictionaries there (store.shared): version, settings, rights, latency.
            """)

    @Argument(help: "The URL, such as https://api.example.com/feed.")
    var url: String

    @OptionGroup var request: RequestOptions
    @OptionGroup var content: ContentOptions

    @Option(
        help: ArgumentHelp(
            "The page that fetches the URL, if it is of another origin: checks same-site, cross-site and CORS.",
            valueName: "url"))
    var from: String?

    @Flag(
        help:
            "Also fetch the URL with a real Chromium on this machine; of its requests only these have the fields of -H."
    )
    var browser = false

    @Option(
        help: ArgumentHelp(
            "With --browser: the page to load (default: that of --from, or / of the URL's origin)",
            valueName: "url"))
    var page: String?

    @Option(help: ArgumentHelp("With --browser: the number of fetches.", valueName: "count"))
    var fetches = 5

    @Option(
        help: ArgumentHelp(
            "With the URL of a Redis or Valkey server: the file whose first line is the password.",
            valueName: "file"))
    var passwordFile: String?

    @Option(help: ArgumentHelp("Overall time limit.", valueName: "seconds"))
    var maxTime = maxTimeDefault

    private static let maxTimeDefault = 60

    @Flag(help: "Exit with 1 on warnings too.")
    var fail = false

    @Flag(help: "Print the findings as JSON.")
    var json = false

    func validate() throws {
        guard !SharedStoreExamination.isFor(url) else {
            return try Self.refuse(ofPages, "is for http and https URLs only")
        }
        try Self.refuse([("--password-file", passwordFile != nil)], "is for Redis and Valkey servers only")
        try FetchDeadline.check(maxTime: maxTime)
        guard 2...1000 ~= fetches else {
            throw ValidationError("--fetches: expected a number from 2 to 1000")
        }
        guard browser || page == nil else { throw ValidationError("--page needs --browser") }
        guard !browser || fetches < maxTime else {
            throw ValidationError(
                "--fetches: one takes a second and more; allow more time with --max-time SECONDS")
        }
    }

    /// The options that only a page or its request has, and whether they were given.
    private var ofPages: [(name: String, isGiven: Bool)] {
        [
            ("-H", !request.header.isEmpty), ("--cookie", request.cookie != nil),
            ("--http1.1 or --http2", request.version != nil),
            ("-X", content.method != nil), ("-d", !content.data.isEmpty), ("--from", from != nil),
            ("--browser", browser), ("--page", page != nil), ("--max-time", maxTime != Self.maxTimeDefault),
        ]
    }

    private static func refuse(
        _ options: [(name: String, isGiven: Bool)], _ reason: String
    ) throws(ValidationError) {
        guard let option = options.first(where: \.isGiven) else { return }
        throw ValidationError("\(option.name) \(reason)")
    }

    func run() throws {
        let report = try SharedStoreExamination.isFor(url) ? sharedStoreReport() : report(on: examine())
        try StandardOutput.write(report, isJSON: json, report.lines.joined(separator: "\n"))
        if !report.works || fail && report.hasWarnings { throw ExitCode.failure }
    }

    private func report(on seen: DoctorObservations) -> DoctorReport {
        DoctorReport(Diagnosis(seen), of: seen.url, browser: try? seen.browser?.get())
    }

    private func sharedStoreReport() throws -> DoctorReport {
        var settings: RedisSettings
        do throws(RedisURLMistake) {
            settings = try RedisSettings(url: url)
        } catch {
            throw ValidationError("\(error.text): expected \(RedisSettings.urlExpectation)")
        }
        settings.tls.authority = request.ca
        settings.passwordFile = passwordFile
        return SharedStoreExamination.report(on: settings)
    }

    private func examine() throws -> DoctorObservations {
        let target = try FetchURL(url)
        let origin = try from.map { text throws(FetchError) in try FetchURL(text) }
        let content = try self.content.content()
        try check(content.method)
        // Blocked before the first thread starts: the profile of the browser would stay behind.
        if browser { Signals.block() }
        defer { if browser { Signals.unblock() } }
        let doctor = try Doctor(
            url: target, protocols: request.protocols(for: target, sending: content),
            authority: request.ca,
            secondsMax: maxTime, fields: try request.fields(), content: content, page: origin)
        var seen = doctor.examine()
        if browser {
            let root = try FetchURL(origin?.origin ?? target.origin)
            let pageURL = try page.map { text throws(FetchError) in try FetchURL(text) } ?? origin ?? root
            var plan = DoctorBrowser.Plan(url: target, page: pageURL)
            plan.fields = try request.fields()
            seen.browser = Result { () throws(CommandError) in try ask(plan, doctor) }
        }
        return seen
    }

    private func check(_ method: Method) throws {
        guard [.get, .query, .post].contains(method) else {
            throw ValidationError(
                "-X \(method.text): only responses to GET, QUERY and POST become dictionaries")
        }
        guard !browser || method == .get else {
            throw ValidationError("--browser fetches by GET only: leave out -X and -d")
        }
    }

    private func ask(
        _ plan: DoctorBrowser.Plan, _ doctor: Doctor
    ) throws(CommandError) -> [DoctorBrowser.Fetch] {
        guard let program = DoctorBrowser.find() else {
            throw CommandError("there is no Chromium in PATH; install one, such as Debian's package chromium")
        }
        var plan = plan
        plan.fetches = fetches
        do throws(FetchError) {
            for examined in [plan.url, plan.page] {
                guard let key = try doctor.serverKey(of: examined) else { continue }
                plan.trustedKeys.append(Body(key).digest)
            }
        } catch {
            throw CommandError("\(error)")
        }
        return try DoctorBrowser.run(program, plan, until: doctor.deadline)
    }
}
