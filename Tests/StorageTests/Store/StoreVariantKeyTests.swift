import Testing

@testable import Dictionaries
@testable import Storage

@Suite struct StoreVariantKeyTests {
    private func key(_ names: [String], _ values: [String: String]) -> String {
        VariantKey.make(names: names) { values[$0].map { Array($0.utf8) } }
    }

    @Test func `a value cannot pretend to be the next field`() {
        let honest = key(["a", "b"], ["a": "1", "b": "2"])
        let forged = key(["a", "b"], ["a": "1;1:b=1:2", "b": ""])
        #expect(honest == "1:a=1:1;1:b=1:2;")
        #expect(honest != forged)
    }

    @Test func `an absent field is not an empty one`() {
        #expect(key(["a"], [:]) != key(["a"], ["a": ""]))
    }

    @Test func `the order and case of the names do not matter`() {
        let values = ["accept": "x", "origin": "y"]
        #expect(key(["Origin", "accept"], values) == key(["accept", "origin", "accept"], values))
    }

    @Test func `the fields that choose the coding are left out`() {
        #expect(key(["accept-encoding", "Available-Dictionary"], ["accept-encoding": "br"]) == "")
    }

    /// Swift takes the first two for one text, and makes a small k of the Kelvin sign.
    @Test(arguments: [
        ("x-t", "a\u{B7}", "a\u{387}"), ("accept-language", "\u{212A}", "k"), ("x-t", "é", "e\u{301}"),
    ])
    func `values of other bytes are no one variant, although Unicode calls them equal`(
        name: String, one: String, other: String
    ) {
        #expect(key([name], [name: one]) != key([name], [name: other]))
    }

    @Test(arguments: [
        ("accept-language", "de, en;q=0.5", "DE,en;q=0.5", true),
        ("accept-language", "de,en", "en,de", false),
        ("accept", "text/html , */*", "text/html,*/*", true), ("accept", "Text/HTML", "text/html", false),
        ("accept", "a;b=\"1, 2\"", "a;b=\"1,2\"", false),
        ("origin", "https://A.test", "https://a.test", true),
        ("user-agent", "a, b", "a,b", false), ("x-any", "A", "a", false),
        ("user-agent", String(repeating: "a", count: 200), String(repeating: "a", count: 200), true),
        ("user-agent", String(repeating: "a", count: 200), String(repeating: "a", count: 201), false),
    ])
    func `values that mean the same are one variant`(name: String, one: String, other: String, isSame: Bool) {
        let keys = [one, other].map { value in VariantKey.make(names: [name]) { _ in Array(value.utf8) } }
        #expect((keys[0] == keys[1]) == isSame)
        #expect(keys[0].utf8.count < 200)
        #expect(VariantKey.fits(keys[0]) { _ in Array(other.utf8) } == isSame)
    }

    @Test func `no value can pretend to be another that is replaced by its digest`() throws {
        let long = String(repeating: "text/html, ", count: 20)
        let hidden = key(["x-any"], ["x-any": long])
        let digest = Digest(of: long.utf8.span).base64URL
        #expect(hidden == "5:x-any#43:\(digest);")
        #expect(VariantKey.names(in: hidden) == ["x-any"])
        for forged in [digest, "sha-256 \(digest)", "#43:\(digest)"] {
            #expect(key(["x-any"], ["x-any": forged]) != hidden)
        }
    }

    @Test func `bytes that are no UTF-8 are not repaired into the same value`() {
        let keys = [0xFC, 0xF6].map { byte in VariantKey.make(names: ["x-city"]) { _ in [0x4D, byte, 0x6C] } }
        #expect(keys[0] != keys[1] && VariantKey.names(in: keys[0]) == ["x-city"])
        #expect(keys[0] != key(["x-city"], ["x-city": "M\u{FFFD}l"]))
    }
}
