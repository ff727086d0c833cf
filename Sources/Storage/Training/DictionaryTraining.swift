package import Dictionaries

/// Makes dictionaries of one half of the samples, and judges each by the other half: in steps of at most some seconds, so that
/// a server can do other work in between.
package struct DictionaryTraining: Sendable {
    package enum Method: String, Encodable, Sendable {
        /// The strings that many samples have in common, as libzstd finds them.
        case trained
        case samples
    }

    private enum Stage: Sendable {
        case begin
        case choosing(SampleChoice)
        /// The number of sizes that are done.
        case training(Int)
        /// The number of candidates that are judged.
        case judging(Int)
        case end
    }

    /// The sizes in bytes; that of trained ones is libzstd's default at most.
    private static let sampleSizes = [8, 16, 32, 64, 128].map { $0 << 10 }
    private static let trainedSizes = [16, 32, 64, 112].map { $0 << 10 }
    /// The bytes of the samples that are trained on: more take longer, and change little.
    package static let trainingBytesMax = 16 << 20
    /// The number of held-out responses per figure.
    private static let heldOutMax = 200

    private let sizes: CodedSizes
    /// The number of responses that a client gets for its download.
    private let responses: Int
    /// The samples that judge the choice, and what may be taken of each.
    private let training: [Body]
    private let pieces: [Body]
    /// The responses that judge the candidates.
    package let heldOut: [Body]
    private var stage = Stage.begin
    private var candidates: [(method: Method, body: Body)] = []
    private var plainBytes = 0
    private var judged: [(verdict: TrainingVerdict.Candidate, body: Body)] = []

    /// - Parameters:
    ///   - responses: The number of responses that a client gets for its download.
    ///   - common: The number of resources whose responses must have a string of a sample that is not proven to be public.
    package init(split: SampleSplit, sizes: CodedSizes, responses: Int, common: Int = 1) {
        (self.sizes, self.responses) = (sizes, responses)
        var room = Self.trainingBytesMax
        // One long sample leaves the room to shorter ones.
        let training = split.training.filter { sample in
            guard sample.body.count <= room else { return false }
            room -= sample.body.count
            return true
        }
        let strings = CommonStrings(of: training, resourcesMin: common)
        self.training = training.map(\.body)
        pieces = training.map(strings.pieces)
        heldOut = split.heldOut.indices.spread(atMost: Self.heldOutMax).map { split.heldOut[$0] }
    }

    /// True once the verdict is complete.
    package var isDone: Bool { if case .end = stage { true } else { false } }

    /// The number of steps that are done, and of those of the present stage; what it does.
    package var progress: (done: Int, count: Int, text: String) {
        switch stage {
        case .begin, .choosing: (0, Self.trainedSizes.count + 1, "choosing samples")
        case .training(let number): (number + 1, Self.trainedSizes.count + 1, "training")
        case .judging(let number):
            (number, candidates.count, "judging by \(heldOut.count) responses held out")
        case .end: (candidates.count, candidates.count, "done")
        }
    }

    /// Does the next step.
    package mutating func advance() throws(CodingError) {
        switch stage {
        case .begin:
            stage = .choosing(
                try SampleChoice(
                    training, pieces, bytesMax: Self.sampleSizes[Self.sampleSizes.count - 1]))
        case .choosing(var choice):
            if choice.isWhole {
                candidates = Self.sampleSizes.map { (.samples, Body(Array(choice.content.suffix($0)))) }
                stage = .training(0)
            } else {
                try choice.takeBest()
                stage = .choosing(choice)
            }
        case .training(let number):
            if let content = ZstdTraining.content(of: pieces, bytesMax: Self.trainedSizes[number]) {
                candidates.append((.trained, Body(content)))
            }
            stage = .training(number + 1)
            if number + 1 == Self.trainedSizes.count { beginJudging() }
        case .judging(let number):
            if number < candidates.count { judged.append(judge(candidates[number])) }
            stage = number + 1 < candidates.count ? .judging(number + 1) : .end
        case .end: break
        }
    }

    private mutating func beginJudging() {
        var digests: Set<Digest> = []
        candidates = candidates.filter { $0.body.count > 0 && digests.insert($0.body.digest).inserted }
        plainBytes = sizes.averageBestPlain(heldOut)
        stage = .judging(0)
    }

    private func judge(
        _ candidate: (method: Method, body: Body)
    ) -> (verdict: TrainingVerdict.Candidate, body: Body) {
        let (method, body) = candidate
        let (dcz, dcb) = (
            sizes.average(of: heldOut, over: body, .dcz), sizes.average(of: heldOut, over: body, .dcb)
        )
        let download = sizes.bestPlain(body)
        // `serve` prefers dcb over built dictionaries.
        let saved = plainBytes - dcb
        return (
            TrainingVerdict.Candidate(
                method: method, bytes: body.count, dcz: dcz, dcb: dcb, downloadBytes: download,
                paysAfterResponses: saved > 0 ? (download + saved - 1) / saved : nil,
                balance: responses * saved - download), body
        )
    }

    /// The verdict on the candidates that are judged, and the one that saves a client most in `responses` responses, its
    /// download included; nil if none saves more than that.
    package var outcome: (verdict: TrainingVerdict, best: Body?) {
        let best = judged.max { $0.verdict.balance < $1.verdict.balance }
            .flatMap { $0.verdict.balance > 0 ? $0 : nil }
        return (
            TrainingVerdict(
                trainedOn: training.count, heldOut: heldOut.count,
                bodyBytes: heldOut.reduce(0) { $0 + $1.count } / max(1, heldOut.count),
                plainBytes: plainBytes, responses: responses, candidates: judged.map(\.verdict),
                best: best?.verdict), best?.body
        )
    }
}
