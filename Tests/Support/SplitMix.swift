/// A small generator, so that a failure can be run again.
package struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    /// The same numbers for the same seed.
    package init(seed: UInt64) { state = seed }

    /// The next 64 bits.
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }

    /// A text of at most so many letters of an alphabet.
    package mutating func text(of alphabet: [UInt8], lengthMax: Int) -> String {
        let bytes = (0..<Int.random(in: 0...lengthMax, using: &self)).compactMap { _ in
            alphabet.randomElement(using: &self)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
