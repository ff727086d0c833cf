internal import Dispatch
internal import Foundation
internal import Primitives
import Testing

struct ASCIITests {
    @Test func `the classes of bytes are those of the grammars`() {
        let token = Array("!#$%&'*+-.^_`|~0123456789".utf8)
        for byte in UInt8.min...UInt8.max {
            let isLetter = (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
            let isDigit = (0x30...0x39).contains(byte)
            #expect(ASCII.isLetter(byte) == isLetter)
            #expect(ASCII.isDigit(byte) == isDigit)
            #expect(ASCII.isToken(byte) == (isLetter || token.contains(byte)))
            #expect(ASCII.isPlainName(byte) == (isLetter || isDigit || byte == 0x2d))
            #expect(ASCII.isBlank(byte) == (byte == 0x20 || byte == 0x09))
            #expect(ASCII.isVisible(byte) == (0x21...0x7e).contains(byte))
            #expect(ASCII.isFieldValue(byte) == (byte == 0x09 || byte >= 0x20 && byte != 0x7f))
            #expect(ASCII.lowercased(byte) == ((0x41...0x5a).contains(byte) ? byte + 0x20 : byte))
            let isHexadecimal = isDigit || (0x41...0x46).contains(byte & 0xdf) && isLetter
            #expect((ASCII.hexadecimal(byte) != nil) == isHexadecimal)
        }
        #expect("0aF".utf8.compactMap(ASCII.hexadecimal) == [0, 10, 15])
    }
}

struct SystemClockTests {
    @Test func `the monotonic clock never goes back, and the other ones agree`() {
        let before = SystemClock.monotonicNanoseconds
        #expect(SystemClock.monotonicNanoseconds >= before)
        let seconds = Int64(SystemClock.unixSeconds)
        #expect(abs(SystemClock.unixMilliseconds / 1000 - seconds) <= 60)
        #expect(abs(SystemClock.unixMicroseconds / 1_000_000 - seconds) <= 60)
        // 2020 to 2100.
        #expect((1_577_836_800..<4_102_444_800).contains(seconds))
    }

    @Test func `each clock counts what it is named after`() {
        let earliest = DispatchTime.now().uptimeNanoseconds
        let monotonic = SystemClock.monotonicNanoseconds
        #expect((earliest...DispatchTime.now().uptimeNanoseconds).contains(UInt64(monotonic)))
        // No thread has run for as long as the machine.
        let ofThread = SystemClock.threadNanoseconds
        #expect(ofThread > 0 && ofThread < monotonic)
        let before = Date().timeIntervalSince1970
        let now = Double(SystemClock.unixMicroseconds) / 1_000_000
        let after = Date().timeIntervalSince1970
        // A Date is a Double.
        #expect(before - 0.000_01 <= now && now <= after + 0.000_01)
    }
}
