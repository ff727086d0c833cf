internal import Dictionaries
internal import Testing

/// When the version that Links name has lost half of its gain.
struct NamedGainTests {
    private static let first = Digest(of: [1].span)
    private static let second = Digest(of: [2].span)

    @Test(arguments: [(499, false), (500, true), (501, true), (1_000, true), (2_000, true)])
    func `a first name is to be replaced once its delta is at least half of the plain coding`(
        delta: Int, isDue: Bool
    ) {
        var gain = NamedGain(namedAt: 100)
        let hasHalved = gain.note(deltaBytes: delta, plainBytes: 1_000, at: 100)
        #expect(hasHalved == isDue)
    }

    @Test func `a name that replaced another has to lose half of what it saved at first`() {
        var gain = NamedGain(namedAt: 0, replacing: NamedGain(namedAt: 0))
        // Its first measurement says what is possible here: 40 %.
        for (delta, isDue) in [(600, false), (790, false), (799, false), (800, true)] {
            let hasHalved = gain.note(deltaBytes: delta, plainBytes: 1_000, at: 1_000)
            #expect(hasHalved == isDue, "\(delta)")
        }
    }

    @Test func `a name that saved little from the start stays`() {
        var gain = NamedGain(namedAt: 0, replacing: NamedGain(namedAt: 0))
        for (delta, second) in [(901, 1_000), (1_000, 2_000)] {
            let hasHalved = gain.note(deltaBytes: delta, plainBytes: 1_000, at: second)
            #expect(!hasHalved)
        }
    }

    @Test func `each replacement in a row waits twice as long as the one before`() {
        var gain = NamedGain(namedAt: 0)
        for hold in [60, 120, 240] {
            gain = NamedGain(namedAt: 0, replacing: gain)
            _ = gain.note(deltaBytes: 0, plainBytes: 1_000, at: 0)
            for second in [hold - 1, hold] {
                let hasHalved = gain.note(deltaBytes: 1_000, plainBytes: 1_000, at: second)
                #expect(hasHalved == (second == hold))
            }
        }
    }

    @Test func `a body is measured once, and the next at the earliest a second later`() {
        var gain = NamedGain(namedAt: 0)
        #expect(gain.isDue(with: Self.first, at: 10))
        gain.begin(with: Self.first, at: 10)
        #expect(!gain.isDue(with: Self.second, at: 10))
        #expect(gain.isDue(with: Self.second, at: 11))
        #expect(!gain.isDue(with: Self.first, at: 99))
    }

    @Test func `an empty plain coding measures nothing`() {
        var gain = NamedGain(namedAt: 0)
        let hasHalved = gain.note(deltaBytes: 10, plainBytes: 0, at: 0)
        #expect(!hasHalved)
    }
}
