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
        return [32 of UInt8] { place in
            let half = place < 16 ? halves.0 : halves.1
            let digit = UInt8(truncatingIfNeeded: half >> UInt64(60 - place % 16 * 4)) & 15
            return digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
        }
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
