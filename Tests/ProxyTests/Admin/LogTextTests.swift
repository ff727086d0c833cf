internal import Testing

@testable import Proxy

/// The parts of a log line.
@Suite struct LogTextTests {
    private func text(_ write: (inout [UInt8]) -> Void) -> String {
        var bytes: [UInt8] = []
        write(&bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `a time has all digits of its milliseconds, rounded down`() {
        #expect(text { Timestamp.append(1_769_903_999_123_999, to: &$0) } == "2026-01-31T23:59:59.123Z")
        #expect(text { Timestamp.append(7_089_000, to: &$0) } == "1970-01-01T00:00:07.089Z")
        let common = text { Timestamp.appendCommon(1_769_903_999_999_999, to: &$0) }
        #expect(common == "31/Jan/2026:23:59:59 +0000")
    }

    @Test(arguments: [
        (LogPlace.json, #"~ \u001f\u007f\u00ff\u0022\u005c!"#),
        (LogPlace.word, #"~\x20\x1f\x7f\xff"\x5c!"#),
        (LogPlace.quoted, #"~ \x1F\x7F\xFF\x22\x5C!"#),
    ])
    func `a tilde is the last byte that is plain, and each place escapes its own end`(
        place: LogPlace, expected: String
    ) {
        let bytes: [UInt8] = [0x7E, 0x20, 0x1F, 0x7F, 0xFF, 0x22, 0x5C, 0x21]
        #expect(text { $0.append(escaping: bytes, as: place) } == expected)
    }

    @Test func `three dots stand for bytes beyond the limit, and for none at it`() {
        #expect(text { $0.append(escaping: Array("abc".utf8), as: .word, limit: 3) } == "abc")
        #expect(text { $0.append(escaping: Array("abcd".utf8), as: .word, limit: 3) } == "abc...")
        #expect(text { $0.append(escaping: [], as: .word) } == "-")
        #expect(text { $0.append(escaping: [], as: .quoted) } == "-")
        #expect(text { $0.append(escaping: [], as: .json) } == "")
    }
}
