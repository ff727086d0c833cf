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
    var common = 1

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
