internal import Primitives
import Testing

struct SpanTests {
    // The scan reads eight bytes together: try each byte at each place, among neighbours on both sides of the
    // bounds.
    @Test(arguments: [0x20, 0x21, 0x7e, 0x80, 0xff, 0x09] as [UInt8])
    func `a value ends at the first byte that RFC 9110 section 5.5 leaves out, wherever it is`(other: UInt8) {
        for byte in UInt8.min...UInt8.max {
            let isAllowed = (byte >= 0x20 && byte != 0x7f) || byte == 0x09
            for place in 0..<19 {
                var value = [UInt8](repeating: other, count: 19)
                value[place] = byte
                let (end, before) = (
                    value.span.endOfFieldValue(0..<19), value.span.endOfFieldValue(0..<place)
                )
                guard end != (isAllowed ? 19 : place) || before != place else { continue }
                Issue.record("\(byte) at \(place): \(end), \(before)")
            }
        }
    }

    @Test(arguments: [0x39, 0x3b, 0xba, 0x00, 0xff] as [UInt8])
    func `the first byte of a value is found wherever it is, and no other is taken for it`(other: UInt8) {
        for count in 0..<26 {
            var bytes = [UInt8](repeating: other, count: count)
            #expect(bytes.span.firstIndex(of: ASCII.colon) == nil)
            for place in (0..<count).reversed() {
                bytes[place] = ASCII.colon
                #expect(bytes.span.firstIndex(of: ASCII.colon) == place)
            }
        }
    }

    @Test func `bytes are equal only if all of them are, at every length and place`() {
        for count in 0..<70 {
            let bytes = [UInt8](0..<UInt8(count))
            var other = bytes
            #expect(bytes.span.equals(other.span) && bytes.equals(other))
            for place in 0..<count {
                other[place] ^= 0x40
                #expect(!bytes.span.equals(other.span) && !bytes.equals(other))
                other[place] ^= 0x40
            }
            #expect(!bytes.span.equals(other.span.extracting(first: max(0, count - 1))) || count == 0)
        }
    }

    @Test func `only letters are equal in both cases`() {
        for one in UInt8.min...UInt8.max {
            for other in UInt8.min...UInt8.max {
                let isLetter = (0x41...0x5a).contains(one & 0xdf) && one < 0x80
                let expected = one == other || (isLetter && one ^ 0x20 == other)
                guard [one].span.equalsIgnoringCase([other].span) != expected else { continue }
                Issue.record("\(one) and \(other)")
            }
        }
        let name = Array("Keep-Alive".utf8)
        let isEqual = name.span.equalsIgnoringCase("keep-alive")
        let isEqualToLess = name.span.equalsIgnoringCase("keep-aliv")
        #expect(isEqual && !isEqualToLess)
        let hasPrefix = name.span.hasPrefixIgnoringCase("KEEP-")
        let hasLonger = name.span.hasPrefixIgnoringCase("keep-alive-")
        #expect(hasPrefix && !hasLonger)
    }

    @Test func `a name in small letters is compared at every place, whatever its length`() {
        for count in 0..<26 {
            let small = [UInt8](repeating: UInt8(ascii: "a"), count: count)
            var name = [UInt8](repeating: UInt8(ascii: "A"), count: count)
            let isEqual = name.span.equalsSmall(small.span)
            #expect(isEqual)
            for place in 0..<count {
                name[place] = UInt8(ascii: "B")
                let isStillEqual = name.span.equalsSmall(small.span)
                #expect(!isStillEqual)
                name[place] = UInt8(ascii: "A")
            }
        }
    }

    @Test(arguments: [
        ("", 0..<0), (" \t ", 3..<3), ("a", 0..<1), (" a b\t", 1..<4), ("\ta", 1..<2), ("a ", 0..<1),
    ])
    func `blanks at either end are trimmed`(text: String, range: Range<Int>) {
        let trimmed = text.utf8.span.trimmedRange(0..<text.utf8.count)
        #expect(trimmed == range)
    }

    @Test func `numbers are written in decimal`() {
        for number: UInt64 in [0, 1, 9, 10, 99, 100, 12_345, 999_999_999_999_999_999, .max] {
            var output: [UInt8] = []
            output.append(decimal: number)
            #expect(String(output.span) == "\(number)")
        }
    }
}
