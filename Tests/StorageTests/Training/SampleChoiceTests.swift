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

    @Test func `of the samples of one host those of other hosts are left out, and bytes count what is left`()
    {
        func sample(_ number: Int, _ authority: String?, bytes: Int) -> TrainingSample {
            TrainingSample(
                resource: "\(number)", authority: authority, url: PathAndQuery("/items/\(number)"),
                body: Body([UInt8](repeating: UInt8(number), count: bytes)))
        }
        var samples = TrainingSamples(matching: nil)
        for (number, host) in ["a.test", "b.test", nil, "a.test"].enumerated() {
            samples.add(sample(number, host, bytes: 10 + number), unless: nil)
        }
        samples.add(sample(3, "a.test", bytes: 13), unless: nil)
        samples.add(sample(9, "a.test", bytes: 9), unless: .personal)
        #expect(samples.bytes == 10 + 11 + 12 + 13, "a body counts once")
        #expect(samples.hosts.map { $0.name } == ["a.test", "b.test"])
        #expect(samples.hosts.map { $0.count } == [2, 1])
        samples.keep(authority: "c.test")
        #expect(samples.samples.count == 4, "none has this host")
        samples.keep(authority: "A.test")
        #expect(samples.samples.map(\.resource) == ["0", "2", "3"], "a file without a host may be of any")
        #expect(samples.bytes == 10 + 12 + 13)
        #expect(samples.leftOut == [.personal: 1, .otherHost: 1])
    }

    @Test func `no coding makes a body longer, and a response without a dictionary takes the shortest`() {
        let sizes = CodedSizes(preparedBytes: 0, verify: .never)
        let noise = Body(Noise.bytes(1_000, seed: 1))
        #expect(sizes.plain(noise, .gzip) == 1_000 && sizes.bestPlain(noise) == 1_000)
        let text = Body([UInt8](repeating: 0x20, count: 1_000))
        let lengths = [ContentCoding.gzip, .br, .zstd].map { sizes.plain(text, $0) }
        #expect(sizes.bestPlain(text) == lengths.min())
        #expect(sizes.averageBestPlain([noise, text]) == (1_000 + sizes.bestPlain(text)) / 2)
        #expect(sizes.averageBestPlain([]) == 0)
    }

    @Test(
        arguments: [
            (0..<10, 4, [0, 3, 6, 9]), (5..<8, 5, [5, 6, 7]), (5..<8, 2, [5, 7]), (5..<8, 1, [7]),
            (5..<5, 3, []),
        ] as [(Range<Int>, Int, [Int])])
    func `places that are spread are the first, the last and even steps between`(
        places: Range<Int>, most: Int, spread: [Int]
    ) {
        #expect(places.spread(atMost: most) == spread)
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
