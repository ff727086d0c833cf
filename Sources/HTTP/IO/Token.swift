/// The name of a handler on its loop, never used twice while it matters: a place and how often it was reused.
///
/// Descriptors are no names: the kernel gives a number out again within one batch of events.
package struct Token: Sendable, Hashable {
    let index: UInt32
    let generation: UInt32

    /// A name that no handler has.
    package static let none = Token(index: .max, generation: .max)

    init(index: UInt32, generation: UInt32) {
        self.index = index
        self.generation = generation
    }

    init(rawValue: UInt64) {
        index = UInt32(truncatingIfNeeded: rawValue)
        generation = UInt32(truncatingIfNeeded: rawValue >> 32)
    }

    var rawValue: UInt64 { UInt64(generation) << 32 | UInt64(index) }
}
