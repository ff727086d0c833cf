internal import Dictionaries
internal import Testing

@testable import Storage

/// What may be taken of samples: strings that several resources have in common.
@Suite(.timeLimit(.minutes(40))) struct CommonStringsTests {
    private static func sample(_ text: String, of resource: String, isProven: Bool = false) -> TrainingSample
    {
        TrainingSample(
            resource: resource, url: PathAndQuery(resource), body: Body(Array(text.utf8)), isProven: isProven)
    }

    /// Returns what may be taken of the first of some samples.
    private static func pieces(_ samples: [TrainingSample], min: Int = 3) -> String {
        String(
            decoding: CommonStrings(of: samples, resourcesMin: min).pieces(of: samples[0]).bytes,
            as: UTF8.self)
    }

    private static func pieces(_ texts: String..., min: Int = 3) -> String {
        pieces(texts.enumerated().map { sample($1, of: "/\($0)") }, min: min)
    }

    private let start = #"{"kind":"a thing","id":""#
    private let end = #"","links":["https://a.test/"]}"#

    @Test func `a string stays if enough resources have it, and what others have is cut`() {
        #expect(
            Self.pieces(start + "1" + end, start + "2" + end, start + "3" + end) == start + end.dropFirst(7))
        #expect(Self.pieces(start + "1" + end, start + "1" + end) == "")
        #expect(Self.pieces(start + "1" + end, start + "1" + end, start) == start)
        #expect(Self.pieces(start + "1" + end, start + "1" + end, min: 2) == start + "1" + end)
        #expect(Self.pieces(start + "1" + end, min: 1) == start + "1" + end)
        #expect(Self.pieces("short", "short", "short") == "")
    }

    @Test func `several versions of one resource count once`() {
        let versions = (0..<5).map { Self.sample(start + "\($0)", of: "/1") }
        #expect(Self.pieces(versions) == "")
        #expect(
            Self.pieces(versions + [Self.sample(start, of: "/2"), Self.sample(start, of: "/3")]) == start)
    }

    @Test func `two common pieces do not make a string whole that only one resource has`() {
        // Each half of 1234 is common, together with what is beside it.
        let others = [start + "12xx", start + "12yy", "xx34" + end, "yy34" + end]
        let text = Self.pieces(
            ([start + "1234" + end] + others).enumerated().map { Self.sample($1, of: "/\($0)") })
        #expect(text == start + "12" + end.dropFirst(6))
        // The halves overlap, too.
        let overlapping = [start + "123x", start + "123y", "x234" + end, "y234" + end]
        let other = Self.pieces(
            ([start + "1234" + end] + overlapping).enumerated().map { Self.sample($1, of: "/\($0)") })
        #expect(!other.contains("1234") && other == start + "123" + end.dropFirst(7))
    }

    @Test func `a response that is proven to be public stays whole`() {
        #expect(Self.pieces([Self.sample(start, of: "/1", isProven: true)]) == start)
    }
}
