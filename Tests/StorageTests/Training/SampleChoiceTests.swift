internal import Dictionaries
internal import TestSupport
internal import Testing

@testable import Storage

/// Which samples a dictionary is made of, and which judge it.
@Suite(.timeLimit(.minutes(40))) struct SampleChoiceTests {
    private static func noise(_ number: Int) -> [UInt8] {
        Array(Digest(of: "noise \(number)".utf8.span).hex.utf8)
    }

    @Test func `no sample that judges the choice is chosen, and all others are if there is room`() throws {
        let bodies = (0..<40).map { Body(Array("{\"kind\":\"a thing\",\"token\":\"".utf8) + Self.noise($0)) }
        var choice = try SampleChoice(bodies, bodies, bytesMax: 1 << 20)
        while !choice.isWhole { try choice.takeBest() }
        let text = String(decoding: choice.content, as: UTF8.self)
        let chosen = (0..<40).filter { text.contains(String(decoding: Self.noise($0), as: UTF8.self)) }
        #expect(chosen.count == 30, "a quarter judges")
    }

    @Test func `a resource is in one half only, and versions of few resources are divided by time`() throws {
        func sample(_ resource: Int, _ version: Int) -> TrainingSample {
            TrainingSample(
                resource: "\(resource)", url: PathAndQuery("/items/\(resource)"),
                body: Body(Array("\(resource) \(version)".utf8)))
        }
        let many = try #require(SampleSplit((0..<20).flatMap { [sample($0, 1), sample($0, 2)] }))
        let resources = { (bodies: [Body]) in
            Set(bodies.map { String(decoding: $0.bytes, as: UTF8.self).split(separator: " ")[0] })
        }
        #expect(resources(many.training.map(\.body)).isDisjoint(with: resources(many.heldOut)))
        #expect((many.training.count, many.heldOut.count) == (20, 20))
        let one = try #require(SampleSplit((0..<9).map { sample(0, $0) }))
        #expect(one.training.map(\.body.bytes) == (0..<4).map { Array("0 \($0)".utf8) })
        #expect(one.heldOut.count == 5)
        let few = try #require(
            SampleSplit(
                [4, 3, 1, 1].enumerated().flatMap { resource, count in
                    (0..<count).map { sample(resource, $0) }
                }))
        #expect(
            few.training.map { String(decoding: $0.body.bytes, as: UTF8.self) } == [
                "0 0", "0 1", "1 0", "2 0",
            ])
        #expect(few.heldOut.count == 5, "the newer ones of each, and one that is alone")
        #expect(SampleSplit((0..<7).map { sample(0, $0) }) == nil)
        #expect(SampleSplit((0..<8).map { sample($0 / 2, $0) })?.training.count == 4)
    }

    @Test func `a sample that does not fit leaves its room to others, and only those used are counted`()
        throws
    {
        let bytes = [17 << 20, 10 << 20, 7 << 20, 6 << 20] + Array(repeating: 100, count: 4)
        let samples = bytes.enumerated().map { number, count in
            TrainingSample(
                resource: "one", url: PathAndQuery("/one"),
                body: Body([UInt8(number)] + [UInt8](repeating: 0x20, count: count - 1)))
        }
        let split = try #require(SampleSplit(samples))
        let training = DictionaryTraining(
            split: split, sizes: CodedSizes(preparedBytes: 0, verify: .never), responses: 100)
        #expect((training.outcome.verdict.trainedOn, training.outcome.verdict.heldOut) == (2, 4))
    }
}
