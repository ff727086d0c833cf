import Testing

@testable import Proxy

/// Files that are not the YAML of a configuration.
@Suite struct ConfigurationTextTests {
    @Test(arguments: [
        ("store: {}", "f:1:1: upstream is missing: expected a mapping of urls"),
        ("upstream: {}", "f:1:11: upstream.urls is missing: expected a list of 1 to 256"),
        ("", "f:1:1: the file is empty"),
        ("# only this\n", "f:1:1: the file is empty"),
        ("---\n", "f:1:1: the file is empty"),
        ("just text", "f:1:1: the file is \"just text\": expected a mapping of listeners"),
        ("a: 1\n---\nb: 2\n", "f:2:1: a second document begins here: expected one document"),
        ("upstream: [\nstore: 1\n", "f:3:1: invalid YAML"),
        ("a: b: c\n", "f:1:5: invalid YAML"),
        ("upstream: *nowhere\n", "f:1:11: invalid YAML"),
        ("a: \"\\q\"\n", "f:1:5: invalid YAML"),
        ("a: \u{1}\n", "the file is not text"),
    ])
    func `a text that is no configuration is told as such`(text: String, expected: String) {
        let found = mistakes(inWhole: Array(text.utf8))
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix(expected) == true || found.first?.contains(": " + expected) == true)
    }

    @Test func `bytes that are not UTF-8 are told as such`() {
        #expect(mistakes(inWhole: [0x61, 0xFF]) == ["f:1:1: the file is not text: expected UTF-8"])
    }

    @Test func `anchors and aliases are refused, so that none can multiply`() {
        let bomb = (1...40).map { "a\($0): &a\($0) [*a\($0 - 1), *a\($0 - 1)]" }
        let text = "a0: &a0 x\n" + bomb.joined(separator: "\n") + "\n? *a40\n: 1\n"
        #expect(
            mistakes(inWhole: Array(text.utf8))
                == [
                    "f:1:5: anchors and aliases are not supported: expected the value itself, in quotes if it begins "
                        + "with & or *"
                ])
    }

    @Test(arguments: [
        ("upstream:\n\turls: [http://u]", "f:2:1: ", "spaces instead of the tab"),
        ("upstream:\n  urls:\n  - http://u\n  \t- http://v", "f:4:3: ", "spaces instead of the tab"),
        ("log:\n  level: info\n\taccess: true", "f:3:1: ", "spaces instead of the tab"),
        ("routes:\n- match: *.js", "f:2:11: ", "quotes around a value that begins with *"),
        ("routes: [{match: *}]", "f:1:19: ", "quotes around a value that begins with *"),
        ("personal_query: [*x]", "f:1:18: ", "quotes around a value that begins with *"),
        ("log: @a", "f:1:6: ", "quotes around a value that begins with this character"),
        ("store: %a", "f:1:8: ", "quotes around a value that begins with this character"),
        ("a: b: c", "f:1:5: ", "quotes around a value with a colon"),
        ("log:\n  level: a: b", "f:2:11: ", "quotes around a value with a colon"),
        ("listeners:\n  - address: [::1]:8080", "f:2:15: ", "quotes around a value with a colon"),
    ])
    func `what YAML takes for something else is told with what to write`(
        text: String, place: String, remedy: String
    ) {
        let found = mistakes(inWhole: Array(text.utf8))
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix(place + "invalid YAML (") == true, "\(found)")
        #expect(found.first?.contains("): expected " + remedy) == true, "\(found)")
    }

    @Test(arguments: [
        (
            "routes:\n  - match: /a\n   dictionary: on\n",
            "an indentation of 0, 2 or 4 spaces, as a line above has, instead of 3"
        ),
        (
            "log:\n  level: info\n access: on\n",
            "an indentation of 0 or 2 spaces, as a line above has, instead of 1"
        ),
        (
            "log:\r\n  level: info\r\n access: on\r\n",
            "an indentation of 0 or 2 spaces, as a line above has, instead of 1"
        ),
        ("upstream:\n  urls: [http://u\nlog: {}\n", "`,` or `]` here, in the list that begins in line 2"),
        ("log: {level: info\nstore: {}\n", "`,` or `}` here, in the mapping that begins in line 1"),
    ])
    func `a line that fits none above, and a bracket without its other, are told as such`(
        text: String, remedy: String
    ) {
        let found = mistakes(inWhole: Array(text.utf8))
        #expect(found.count == 1 && found[0].contains("): expected " + remedy), "\(found)")
    }

    @Test func `a star or an ampersand within a value is no alias`() throws {
        let configuration = try configuration(
            "personal_fields: [x-*]\nroutes: [{match: /a&b*}, {match: \"/*\"}]")
        #expect(configuration.routes.count == 2)
    }

    @Test(arguments: [
        #"routes: [{match: "/graphql?op=Feed{&*}?"}, {match: "/b-*"}]"#,
        "routes:\n- match: '/g?op=:op{&*}?'\n- match: \"/b-*\"",
        "personal_fields: [\"x-*\"]\n# R &D and *bold*",
        "routes: [{match: /a, headers: {response: {set: {X-Note: R &D and *bold*}}}}, {match: \"*\"}]",
    ])
    func `marks in quotes, in comments and within values are none`(text: String) {
        #expect(mistakes(text).allSatisfy { !$0.contains("anchors") }, "\(mistakes(text))")
    }

    @Test func `marks stay what they are`() throws {
        let text =
            #"routes: [{match: "/g?op=:op{&*}?"}, {match: "/b&*", headers: {response: {set: {X-A: a &b *c}}}}]"#
        let routes = try configuration(text).routes
        #expect(routes.map(\.text) == ["/g?op=:op{&*}?", "/b&*"])
        #expect(routes[1].headers.response.set.first?.value == "a &b *c")
        let effective = EffectiveConfiguration(try configuration(text))
        #expect(effective.node != nil)
        #expect(try Configuration.parse(Array(effective.yaml.utf8)).routes.map(\.text) == routes.map(\.text))
    }

    @Test(arguments: [
        ("log: &a {level: info}\nstore: *a", 2, 6), ("log: &a\n  level: info\nadmin: *a", 2, 6),
        ("routes: [&a {match: /a}, *a]", 2, 10), ("? &a k\n: *a", 2, 3),
        ("log: {level: *a, format: &a json}", 2, 14),
        ("&a a: 1\nb: *a", 2, 1), ("a: !!str &x y\nb: *x", 2, 4),
    ])
    func `anchors and aliases are found wherever they are`(text: String, line: Int, column: Int) {
        let found = mistakes(text).filter { $0.contains("anchors and aliases") }
        #expect(found.count == 1 && found[0].hasPrefix("f:\(line):\(column): "), "\(mistakes(text))")
    }

    @Test(arguments: [
        ("request_id: !env HOME", "f:2:13: tags are not supported"),
        ("log: !x {level: info}", "f:2:6: tags are not supported"),
        ("routes: !x [{match: /a}]", "f:2:9: tags are not supported"),
        ("!x log: {}", "f:2:1: tags are not supported"),
        ("log: &a {level: info}", "f:2:6: anchors and aliases are not supported"),
        ("log: {level: &a info}", "f:2:14: anchors and aliases are not supported"),
        ("&a log: {}", "f:2:1: anchors and aliases are not supported"),
    ])
    func `tags, and anchors without an alias, are refused, since they would have no effect`(
        text: String, expected: String
    ) {
        let found = mistakes(text).filter { $0.contains("not supported") }
        #expect(found.count == 1 && found[0].hasPrefix(expected), "\(found)")
    }

    @Test func `a byte order mark is no part of the text`() throws {
        let text = "log: {level: info}\nupstream: {urls: [http://u]}"
        #expect(try Configuration.parse([0xEF, 0xBB, 0xBF] + text.utf8).upstream.urls.count == 1)
    }

    @Test func `marks by the hundred thousand in one line are looked at once`() {
        let line = "x: \"a *c " + String(repeating: "&b ", count: 300_000) + "\"\n"
        #expect(mistakes(inWhole: Array(line.utf8)).count == 2, "the unknown key, and the missing upstream")
    }

    @Test(arguments: ["[", "{a: ", "- ", "? "])
    func `nesting is bounded`(opening: String) {
        let text = String(repeating: opening, count: 100_000 / opening.count)
        #expect(mistakes(inWhole: Array(text.utf8)).count == 1)
        let closed = String(repeating: "[", count: 500) + String(repeating: "]", count: 500)
        #expect(
            mistakes(inWhole: Array("store: \(closed)".utf8)).contains { $0.contains("nested too deeply") })
    }

    @Test func `a file is at most 1MiB`() {
        let head = "upstream: {urls: [http://u]}\n#"
        let exact = head + String(repeating: "x", count: ConfigurationText.sizeMax - head.utf8.count)
        #expect(mistakes(inWhole: Array(exact.utf8)) == [])
        #expect(mistakes(inWhole: Array((exact + "x").utf8)).first?.contains("larger than 1MiB") == true)
    }

    @Test func `a hundred keys that are given twice are told up to a bound`() {
        let text = (0..<100).map { "k\($0): 1\nk\($0): 2\n" }.joined()
        #expect(mistakes(text).count <= 200)
        #expect(mistakes(text).contains { $0.contains("given twice") })
    }

    @Test func `however a file is damaged, each mistake is one line with a place in the file`() {
        let original = Array(ConfigurationReference.text.utf8)
        var generator = SplitMix(state: 9842)
        var damaged = 0
        for _ in 0..<300 {
            var bytes = original
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                let index = bytes.indices.randomElement(using: &generator) ?? 0
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes[index] = UInt8.random(in: 0...127, using: &generator)
                case 1: bytes.removeSubrange(index..<min(index + 9, bytes.count))
                case 2: bytes.insert(contentsOf: bytes[index..<min(index + 40, bytes.count)], at: index)
                default:
                    bytes[index] = Array("[]{}:#&*!|>'\"%@`-? \n".utf8).randomElement(using: &generator) ?? 0
                }
            }
            let lines = bytes.count { $0 == 0x0A } + 1
            do throws(ConfigurationError) {
                _ = try Configuration.parse(bytes)
            } catch {
                damaged += 1
                #expect(!error.problems.isEmpty)
                #expect(error.problems.allSatisfy { 1...lines ~= $0.line && $0.column >= 1 })
                #expect(error.problems.allSatisfy { !$0.text.contains(where: \.isNewline) })
            }
        }
        #expect(damaged > 50)
    }
}

/// A small generator, so that a failure can be repeated.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
