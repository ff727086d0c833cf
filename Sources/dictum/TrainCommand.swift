internal import ArgumentParser
internal import Dictionaries
internal import Foundation
internal import Glibc
internal import HTTP
internal import Proxy
internal import Storage

struct TrainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "train",
        abstract: "Makes a dictionary for the first responses of clients, for routes with dictionary.built.",
        discussion: """
            A source is a HAR file, a folder with one file per response, a folder of such folders (one per URL), a URL, or a \
            text file with one URL per line. All samples are of one host and route. Makes dictionaries of several sizes of one half of the responses, judges each by \
            the other half, and writes the best under its SHA-256. Everybody can read a dictionary. Responses that belong to \
            one user are never samples: those with private, no-store, Set-Cookie or a Vary that names a credential, and those \
            whose request had one. Of sources you vouch for the rest. Of a store it takes only what is proven to be public: \
            three client addresses at least got the same body, by requests without credentials. Interrupt the fetching \
            (Ctrl-C) to train on what came so far, and again to end the command.
            """)

    @Argument(help: ArgumentHelp("HAR files, folders, URLs or lists of URLs.", valueName: "source"))
    var sources: [String] = []

    @Option(
        help: ArgumentHelp(
            "The route: only responses of paths that this URL Pattern matches.", valueName: "pattern"))
    var match: String?

    @Option(
        help: ArgumentHelp("Only responses of this host; without a port, of all ports.", valueName: "host"))
    var host: String?

    @OptionGroup var store: StoreSource

    @Option(
        help: ArgumentHelp(
            "The number of responses that a client gets over the dictionary: more make a larger one pay.",
            valueName: "count"))
    var responses = 100

    @Option(
        help: ArgumentHelp(
            "Cut strings of 16 bytes that the responses of fewer URLs have. Those of a store stay whole.",
            valueName: "count"))
    var common = 1

    @Option(name: .shortAndLong, help: ArgumentHelp("The folder to write to.", valueName: "folder"))
    var output = "."

    @OptionGroup var request: RequestOptions

    @Flag(help: "Print the result as JSON.")
    var json = false

    func validate() throws {
        guard !sources.isEmpty || store.isGiven else {
            throw ValidationError("expected a source, --config FILE or --store PATH")
        }
        try HistoryCollection.check(sources)
        // What goes there takes minutes to make.
        guard unsafe access("\(output)/.", W_OK) == 0 else {
            let why = SystemError(code: errno).text
            throw ValidationError("--output: cannot write to the folder \(output): \(why)")
        }
        guard 1...1_000_000 ~= responses else {
            throw ValidationError("--responses: expected a number from 1 to 1000000")
        }
        guard 1...1_000 ~= common else { throw ValidationError("--common: expected a number from 1 to 1000") }
        _ = try pattern
        guard host.map(AuthorityNames.isItem) != false else {
            throw ValidationError("--host: expected a host, with or without a port, such as api.example.com")
        }
    }

    private var pattern: URLPattern? {
        get throws {
            try match.map { match in
                do throws(PatternError) {
                    return try URLPattern(match)
                } catch {
                    throw ValidationError("--match: unexpected \(error)")
                }
            }
        }
    }

    func run() throws {
        let progress = ProgressBar(isWanted: !json)
        let estimator = Estimator(plan: ClientPlan())
        let samples = try samples(estimator, progress)
        guard let split = SampleSplit(samples.samples) else { throw Self.tooFew(samples) }
        let training = DictionaryTraining(
            split: split, sizes: estimator.measurement.sizes, responses: responses, common: common)
        let (verdict, best) = try training.outcome(showing: progress)
        var report = TrainingReport(
            match: match ?? samples.shapes.first?.name ?? "/", verdict: verdict, leftOut: samples.leftOut,
            guarantee: guarantee)
        if let best {
            let file = "\(output)/\(best.digest.hex).dict"
            try OutputFile.writeWhole(best.bytes, toFile: file)
            (report.sha256, report.file) = (best.digest.hex, file)
        }
        try StandardOutput.write(report, isJSON: json, report.text)
    }

    private func samples(_ estimator: Estimator, _ progress: ProgressBar) throws -> TrainingSamples {
        let host = AuthorityNames(host.map { [$0] } ?? [])
        var samples = TrainingSamples(matching: try pattern, of: host)
        let collection = try HistoryCollection(
            of: sources, everySeconds: 1, forSeconds: 0, asksTwice: false, request, progress)
        for warning in collection.warnings { StandardError.write("dictum: \(OutputFormat.plain(warning))") }
        for history in collection.histories { samples.add(history, estimator, filesAreResources: true) }
        if store.isGiven { try store.use { try samples.add($0.catalogue) } }
        // A host without a port has all ports, unless there are others than its own.
        if let host = self.host { samples.keep(authority: host) }
        // A dictionary is announced by one host, and has the text of no other.
        try Self.requireOne(of: samples.hosts, "hosts", option: "--host")
        if match == nil { try Self.requireOne(of: samples.shapes, "routes", option: "--match") }
        return samples
    }

    private static func requireOne(
        of names: [(name: String, count: Int)], _ what: String, option: String
    ) throws(CommandError) {
        guard names.count > 1 else { return }
        let most = names.prefix(8).map { "\(OutputFormat.plain($0.name)) (\($0.count))" }
        throw CommandError(
            "the responses are of \(names.count) \(what); choose one with \(option): \(most.joined(separator: ", "))"
        )
    }

    private static func tooFew(_ samples: TrainingSamples) -> CommandError {
        let others = samples.leftOut.sorted { $0.key.rawValue < $1.key.rawValue }.map {
            "; left out were \(OutputFormat.count($0.value, "response")) \($0.key.text)"
        }
        return CommandError(
            "there are \(OutputFormat.count(samples.samples.count, "different response")) to learn from, expected at least "
                + "\(SampleSplit.samplesMin)" + others.joined())
    }

    private var guarantee: String {
        let ofStore = "Three client addresses at least got each sample of the store, without credentials."
        let ofSources = "You vouch that the samples are the same for everybody."
        return [store.isGiven ? ofStore : nil, sources.isEmpty ? nil : ofSources].compactMap(\.self)
            .joined(separator: " ")
    }
}

extension DictionaryTraining {
    /// Does all steps, and shows which.
    func outcome(
        showing progress: ProgressBar
    ) throws(CommandError) -> (verdict: TrainingVerdict, best: Body?) {
        var training = self
        do throws(CodingError) {
            while !training.isDone {
                let (done, count, text) = training.progress
                progress.show(done, of: count, text)
                try training.advance()
            }
        } catch {
            throw CommandError("a sample cannot be compressed: \(error.message)")
        }
        progress.end()
        return training.outcome
    }
}
