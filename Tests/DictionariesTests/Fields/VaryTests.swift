internal import Dictionaries
internal import Testing

/// RFC 9110 section 12.5.5 and RFC 9842 section 6.2.
struct VaryTests {
    static let ours = ["Accept-Encoding", "Available-Dictionary"]

    @Test(
        arguments: [
            ([], "Accept-Encoding, Available-Dictionary"), ([""], "Accept-Encoding, Available-Dictionary"),
            ([" , "], "Accept-Encoding, Available-Dictionary"),
            (["Origin"], "Origin, Accept-Encoding, Available-Dictionary"),
            (["accept-ENCODING"], "accept-ENCODING, Available-Dictionary"), (["*"], "*"),
            (["Origin, *"], "*"), (["a", "*"], "*"),
            (["available-dictionary,accept-encoding"], "available-dictionary,accept-encoding"),
            (["X-B", "x-a, Origin"], "X-B, x-a, Origin, Accept-Encoding, Available-Dictionary"),
            (["Accept-Encoding-2"], "Accept-Encoding-2, Accept-Encoding, Available-Dictionary"),
        ] as [([String], String)])
    func `names are added to the upstream's, which keeps its order and spelling`(
        upstream: [String], merged: String
    ) {
        #expect(Vary.merged(upstream, adding: Self.ours) == merged)
    }

    @Test func `names are read in lower case`() {
        #expect(Vary.names(["Origin,, X-A ", "*"]) == ["origin", "x-a", "*"])
    }

    @Test func `what is no name counts as a star, stays, and hides no other`() {
        #expect(
            Vary.merged(["\"Origin"], adding: Self.ours) == "Accept-Encoding, Available-Dictionary, \"Origin")
        #expect(
            Vary.merged(["\"a, X-B, c d", "Origin"], adding: Self.ours)
                == "Accept-Encoding, Available-Dictionary, \"a, X-B, c d, Origin")
        let once = Vary.merged(["\"a, X-B, c d", "Origin"], adding: Self.ours)
        #expect(Vary.merged([once], adding: Self.ours) == once)
        #expect(Vary.merged(["\"x, Origin"], adding: ["Origin"]) == "Origin, \"x, Origin")
        // What a line of its own has does not stand behind it once the lines are one.
        #expect(Vary.merged(["\"x", "Origin"], adding: ["Origin"]) == "Origin, \"x, Origin")
        #expect(Vary.names(["\"a, X-B, c d"]) == ["x-b", "*"])
        #expect(Vary.names(["Cookie; Accept-Language", "Origin"]) == ["*", "origin"])
        #expect(Vary.merged(["\"a, *"], adding: Self.ours) == "*")
    }
}
