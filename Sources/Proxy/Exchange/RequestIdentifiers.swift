internal import HTTP
internal import Primitives

/// Identifiers that requests bring along, to find them in the logs of all who had them: pure functions of fields.
enum RequestIdentifiers {
    /// Returns the identifier that a request has in a field: one value of 1 to 128 letters, digits and `-_.+/=:@`.
    static func requestID(in headers: borrowing Headers, _ name: HeaderName) -> [UInt8]? {
        guard hasRequestID(headers, name) else { return nil }
        var id: [UInt8] = []
        headers.forEachValue(of: name) { id = [UInt8](copying: $0) }
        return id
    }

    static func hasRequestID(_ headers: borrowing Headers, _ name: HeaderName) -> Bool {
        var count = 0
        var isWellFormed = true
        headers.forEachValue(of: name) { value in
            count += 1
            isWellFormed = 1...128 ~= value.count && value.indices.allSatisfy { isOfID(value[$0]) }
        }
        return count == 1 && isWellFormed
    }

    private static func isOfID(_ byte: UInt8) -> Bool {
        ASCII.isAlphanumeric(byte) || "-_.+/=:@".utf8.contains(byte)
    }

    /// Returns the trace identifier of a request, 32 digits, by its one traceparent (W3C Trace Context section 3.2).
    static func traceID(in headers: borrowing Headers) -> [UInt8]? {
        var count = 0
        var id: [UInt8]?
        headers.forEachValue(of: .traceparent) { value in
            count += 1
            id = traceID(value)
        }
        return count == 1 ? id : nil
    }

    /// `version-traceid-parentid-flags`, all in lower-case hexadecimal digits; later versions may have more behind it.
    private static func traceID(_ value: Span<UInt8>) -> [UInt8]? {
        let length = 55
        guard value.count >= length, [2, 35, 52].allSatisfy({ value[$0] == UInt8(ascii: "-") }),
            [0..<2, 3..<35, 36..<52, 53..<55].joined().allSatisfy({ isHexadecimal(value[$0]) })
        else { return nil }
        let version = [value[0], value[1]]
        guard version != Array("ff".utf8),
            value.count == length || version != Array("00".utf8) && value[length] == UInt8(ascii: "-")
        else { return nil }
        let id = (3..<35).map { value[$0] }
        return id.allSatisfy { $0 == UInt8(ascii: "0") } ? nil : id
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        0x30...0x39 ~= byte || 0x61...0x66 ~= byte
    }
}

/// Makes identifiers of requests: 128 bits that no other request of any process has, in hexadecimal digits.
///
/// They are no secrets: some of them tell the next (xoshiro256**, Blackman and Vigna 2018). Each loop has a generator of
/// its own, because the system's costs a system call for each eight bytes.
struct RequestIDGenerator {
    private var state: (UInt64, UInt64, UInt64, UInt64)

    init() {
        var system = SystemRandomNumberGenerator()
        // All zero is the one state that never changes.
        state = (system.next(), system.next(), system.next(), system.next() | 1)
    }

    mutating func next() -> [32 of UInt8] {
        let halves = (nextBits(), nextBits())
        let digits: [4 of UInt64] = [
            Self.digits(halves.0 >> 32).bigEndian, Self.digits(halves.0 & 0xffff_ffff).bigEndian,
            Self.digits(halves.1 >> 32).bigEndian, Self.digits(halves.1 & 0xffff_ffff).bigEndian,
        ]
        // Safe: both are 32 bytes without gaps, and every pattern of bits is valid.
        return unsafe unsafeBitCast(digits, to: [32 of UInt8].self)
    }

    /// Returns eight hexadecimal digits: the four bits of each are spread to a byte, and become its character.
    static func digits(_ bits: UInt64) -> UInt64 {
        var spread = (bits | bits << 16) & 0x0000_ffff_0000_ffff
        spread = (spread | spread << 8) & 0x00ff_00ff_00ff_00ff
        spread = (spread | spread << 4) & 0x0f0f_0f0f_0f0f_0f0f
        // 1 where the digit is a letter, and 39 lies between "9" + 1 and "a".
        let letters = (spread &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return spread &+ 0x3030_3030_3030_3030 &+ letters &* 39
    }

    private mutating func nextBits() -> UInt64 {
        let bits = rotated(state.1 &* 5, by: 7) &* 9
        let shifted = state.1 << 17
        state.2 ^= state.0
        state.3 ^= state.1
        state.1 ^= state.2
        state.0 ^= state.3
        state.2 ^= shifted
        state.3 = rotated(state.3, by: 45)
        return bits
    }

    private func rotated(_ bits: UInt64, by count: UInt64) -> UInt64 { bits << count | bits >> (64 - count) }
}
