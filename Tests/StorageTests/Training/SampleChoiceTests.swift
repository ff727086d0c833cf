internal import Dictionaries
internal import TestSupport
internal import Testing

@testable import Storage

/// Which samples a dictionary is made of, and which judge it.
@Suite(.timeLimit(.minutes(10))) struct SampleChoiceTests {
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
        #expect(SampleSplit((0..<7).map { sample(0, $0) }) == nil)
    }
}
