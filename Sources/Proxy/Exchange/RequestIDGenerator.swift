/// Makes identifiers of requests: 128 bits that no other request of any process has, in hexadecimal digits.
///
/// Not for secrets: who sees some can tell the next (xoshiro256**, Blackman and Vigna 2018). One for each loop, since
/// the system's own generator costs a system call for each eight bytes.
struct RequestIDGenerator {
    private var state: (UInt64, UInt64, UInt64, UInt64)

    /// Begins at a place that the system draws.
    init() {
        var system = SystemRandomNumberGenerator()
        // All zero is the one state that never changes.
        state = (system.next(), system.next(), system.next(), system.next() | 1)
    }

    /// The next identifier.
    mutating func next() -> [32 of UInt8] {
        let halves = (nextBits(), nextBits())
        let digits: [4 of UInt64] = [
            Self.digits(halves.0 >> 32), Self.digits(halves.0 & 0xffff_ffff),
            Self.digits(halves.1 >> 32), Self.digits(halves.1 & 0xffff_ffff),
        ]
        return [32 of UInt8] { place in
            UInt8(truncatingIfNeeded: digits[place >> 3] >> UInt64(56 - (place & 7) << 3))
        }
    }

    /// Eight hexadecimal digits at once: the four bits of each are spread to a byte of their own, and made its character.
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
