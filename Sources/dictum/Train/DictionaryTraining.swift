internal import Dictionaries

/// Makes dictionaries of one half of the samples, and judges each by the other half.
struct DictionaryTraining {
    /// The ways to make a dictionary.
    enum Method: String, Encodable, Sendable {
        /// The strings that many samples have in common, as libzstd finds them.
        case trained
        /// Whole samples.
        case samples
    }

    /// The sizes in bytes; that of trained ones is libzstd's default at most.
    private static let sampleSizes = [8, 16, 32, 64, 128].map { $0 << 10 }
    private static let trainedSizes = [16, 32, 64, 112].map { $0 << 10 }
    /// The bytes of the samples that are trained on: more take longer, and change little.
    private static let trainingBytesMax = 16 << 20
    /// The number of held-out responses per figure.
    private static let heldOutMax = 200

    let split: SampleSplit
    let measurement: CodingMeasurement
    /// The number of responses that a client gets for its download.
    let responses: Int
    /// The number of resources whose responses must have a string of a sample that is not proven to be public.
    let common: Int

    /// The default of `common`.
    static let commonDefault = 3

    /// Returns all candidates, without those that are the same.
    func candidates(_ progress: ProgressBar) throws(CommandError) -> [(method: Method, body: Body)] {
        progress.show(0, of: Self.trainedSizes.count + 1, "choosing samples")
        var bytes = 0
        let training = split.training.prefix { sample in
            bytes += sample.body.count
            return bytes <= Self.trainingBytesMax
        }
        let strings = CommonStrings(of: Array(training), resourcesMin: common)
        let pieces = training.map(strings.pieces)
        var candidates: [(method: Method, body: Body)] = []
        do throws(CodingError) {
            let chosen = try SampleChoice.content(
                of: training.map(\.body), taking: pieces,
                bytesMax: Self.sampleSizes[Self.sampleSizes.count - 1])
            candidates = Self.sampleSizes.map { (.samples, Body(Array(chosen.suffix($0)))) }
        } catch {
            throw CommandError("a sample cannot be compressed: \(error.message)")
        }
        for (number, size) in Self.trainedSizes.enumerated() {
            progress.show(number + 1, of: Self.trainedSizes.count + 1, "training")
            guard let content = ZstdTraining.content(of: pieces, bytesMax: size) else { continue }
            candidates.append((.trained, Body(content)))
        }
        var digests: Set<Digest> = []
        return candidates.filter { $0.body.count > 0 && digests.insert($0.body.digest).inserted }
    }

    /// Measures the candidates, and chooses the one that saves a client most in `responses` responses, its download included.
    func judge(
        _ candidates: [(method: Method, body: Body)], _ progress: ProgressBar
    ) -> (verdict: TrainingVerdict, best: Body?) {
        let places = CodingMeasurement.spread(split.heldOut.indices, atMost: Self.heldOutMax)
        let bodies = places.map { split.heldOut[$0] }
        let plain = measurement.bestPlainBytes(bodies, atMost: bodies.count)
        var judged: [(verdict: TrainingVerdict.Candidate, body: Body)] = []
        for (number, (method, body)) in candidates.enumerated() {
            progress.show(number, of: candidates.count, "judging by \(bodies.count) responses held out")
            let (dcz, dcb) = (
                measurement.averageBytes(of: bodies, over: body, .dcz),
                measurement.averageBytes(of: bodies, over: body, .dcb)
            )
            let download = measurement.bestPlainBytes([body])
            // `serve` prefers dcb over built dictionaries.
            let saved = plain - dcb
            judged.append(
                (
                    TrainingVerdict.Candidate(
                        method: method, bytes: body.count, dcz: dcz, dcb: dcb, downloadBytes: download,
                        paysAfterResponses: saved > 0 ? (download + saved - 1) / saved : nil,
                        balance: responses * saved - download), body
                ))
        }
        progress.end()
        let best = judged.max { $0.verdict.balance < $1.verdict.balance }
            .flatMap { $0.verdict.balance > 0 ? $0 : nil }
        return (
            TrainingVerdict(
                trainedOn: split.training.count, heldOut: bodies.count,
                bodyBytes: bodies.reduce(0) { $0 + $1.count } / max(1, bodies.count), plainBytes: plain,
                responses: responses, candidates: judged.map(\.verdict), best: best?.verdict), best?.body
        )
    }
}

/// What held-out responses cost over each candidate, on average.
struct TrainingVerdict: Encodable, Sendable {
    struct Candidate: Encodable, Sendable {
        let method: DictionaryTraining.Method
        let bytes: Int
        /// The bytes of a response, header included.
        let dcz: Int
        let dcb: Int
        /// The bytes of the dictionary in the best coding without one.
        let downloadBytes: Int
        /// The number of responses that save as much as the download costs; nil if they save nothing.
        let paysAfterResponses: Int?
        /// The bytes that a client saves beyond the download.
        let balance: Int
    }

    let trainedOn: Int
    let heldOut: Int
    let bodyBytes: Int
    /// The bytes of a response in the best coding without a dictionary.
    let plainBytes: Int
    /// The number of responses by which the best is chosen.
    let responses: Int
    let candidates: [Candidate]
    /// The candidate that saves most; nil if none saves more than its download costs.
    let best: Candidate?
}

/// The result of `dictum train`.
struct TrainingReport: Encodable, Sendable {
    let match: String
    let verdict: TrainingVerdict
    /// The number of responses that were no samples, by reason.
    let leftOut: [TrainingSamples.Exclusion: Int]
    /// What is known of the samples' users.
    let guarantee: String
    var sha256: String?
    var file: String?

    /// A JSON object on one line.
    var json: String { OutputFormat.json(self) }

    var text: String {
        let plain = verdict.plainBytes
        var lines = [
            "\(match): trained on \(OutputFormat.count(verdict.trainedOn, "response")), judged by "
                + "\(verdict.heldOut) others of \(OutputFormat.grouped(verdict.bodyBytes)) bytes on average, "
                + "\(OutputFormat.grouped(plain)) in the best coding without a dictionary"
        ]
        lines += leftOut.sorted { $0.key.rawValue < $1.key.rawValue }.map {
            "left out: \(OutputFormat.count($0.value, "response")) \($0.key.text)"
        }
        lines += ["", OutputFormat.table(rows), ""]
        if let best = verdict.best, let file {
            lines.append(
                "\(file): \(best.method.rawValue), \(OutputFormat.grouped(best.bytes)) bytes; a client with "
                    + "\(OutputFormat.count(verdict.responses, "response")) saves \(OutputFormat.grouped(best.balance)) bytes"
            )
        } else {
            lines.append(
                "No file was written: a client with \(OutputFormat.count(verdict.responses, "response")) would save less "
                    + "than the download costs")
        }
        return (lines + [guarantee]).joined(separator: "\n") + "\n"
    }

    private var rows: [[String]] {
        let plain = verdict.plainBytes
        return [["dictionary", "bytes", "download", "dcz", "dcb", "dcb against plain", "pays after"]]
            + verdict.candidates.map { candidate in
                [
                    candidate.method.rawValue, OutputFormat.grouped(candidate.bytes),
                    OutputFormat.grouped(candidate.downloadBytes), OutputFormat.grouped(candidate.dcz),
                    OutputFormat.grouped(candidate.dcb), EstimateText.ratio(candidate.dcb, plain),
                    candidate.paysAfterResponses.map { OutputFormat.count($0, "response") } ?? "never",
                ]
            }
    }
}
