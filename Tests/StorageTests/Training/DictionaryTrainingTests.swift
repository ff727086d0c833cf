internal import Dictionaries
internal import TestSupport
internal import Testing

@testable import Storage

/// The figures of a training, and which candidate is chosen by them.
@Suite(.timeLimit(.minutes(40))) struct DictionaryTrainingTests {
    /// Trains on responses of one resource each.
    private func train(_ bodies: [Body], responses: Int) throws -> DictionaryTraining {
        let samples = bodies.enumerated().map { number, body in
            TrainingSample(resource: "\(number)", url: PathAndQuery("/items/\(number)"), body: body)
        }
        let split = try #require(SampleSplit(samples))
        var training = DictionaryTraining(
            split: split, sizes: CodedSizes(preparedBytes: 4 << 20, verify: .never), responses: responses)
        for _ in 0..<1_000 where !training.isDone {
            let progress = training.progress
            #expect(progress.done <= progress.count, "\(progress.text)")
            try training.advance()
        }
        try #require(training.isDone)
        return training
    }

    @Test func `a candidate's balance is what its deltas save less its download, and equal ones count once`()
        throws
    {
        let bodies = (0..<24).map { number in
            let token = Digest(of: "\(number)".utf8.span).hex
            let fields = (0..<8).map { "\"a field of all items \($0)\":\"as long as in the others\"" }
            return Body(Array("{\(fields.joined(separator: ",")),\"token\":\"\(token)\"}".utf8))
        }
        let (verdict, best) = try train(bodies, responses: 100).outcome
        // The samples have fewer bytes than the smallest of the sizes that are tried.
        #expect(verdict.candidates.count { $0.method == .samples } == 1)
        for candidate in verdict.candidates {
            let saved = verdict.plainBytes - candidate.dcb
            #expect(candidate.balance == 100 * saved - candidate.downloadBytes)
        }
        let most = verdict.candidates.map(\.balance).max()
        #expect(verdict.best?.balance == most && best?.count == verdict.best?.bytes)
        #expect(verdict.heldOut == 12 && verdict.trainedOn == 12)
    }

    @Test func `where no candidate saves what its download costs none is chosen`() throws {
        let bodies = (0..<16).map { Body(Noise.bytes(2_000, seed: UInt64($0 + 1))) }
        let (verdict, best) = try train(bodies, responses: 100).outcome
        #expect(!verdict.candidates.isEmpty && verdict.candidates.allSatisfy { $0.balance <= 0 })
        #expect(best == nil && verdict.best == nil)
    }
}
