/// The name of a handler on its loop: a slot and how often it was reused.
///
/// A descriptor is not a name: the kernel may reuse a number within one batch of events.
package struct Token: Sendable, Hashable {
    let index: UInt32
    let generation: UInt32

    /// A token without a handler.
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
