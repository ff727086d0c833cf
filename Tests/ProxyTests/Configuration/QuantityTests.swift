internal import Testing

@testable import Proxy

/// The numbers of the configuration with their units.
@Suite struct QuantityTests {
    @Test(arguments: [
        (0, "0ms"), (1, "1ms"), (1_500, "1500ms"), (90_000, "90s"), (5_400_000, "90m"), (7_200_000, "2h"),
        (172_800_000, "2d"),
    ])
    func `a duration is written in the largest unit that divides it, and read back`(value: Int, text: String)
    {
        #expect(Quantity.duration.text(of: value) == text)
        #expect(Quantity.duration.value(of: text, in: 0...Int.max) == value)
    }

    @Test(
        arguments: [
            (0, "0"), (1_023, "1023"), (3 << 10, "3KiB"), (3 << 20, "3MiB"), (3 << 30, "3GiB"),
            (3 << 40, "3TiB"),
        ] as [(Int, String)])
    func `a size is written in the largest unit that divides it, and read back`(value: Int, text: String) {
        #expect(Quantity.size.text(of: value) == text)
        #expect(Quantity.size.value(of: text, in: 0...Int.max) == value)
    }

    @Test func `a number that overflows is outside of all bounds`() {
        // 2^24 TiB are 2^64 bytes.
        #expect(Quantity.size.value(of: "16777216TiB", in: 0...Int.max) == nil)
    }

    @Test func `whole seconds are counted of a duration`() {
        #expect(DurationText.seconds("1999ms") == 1 && DurationText.seconds("2m") == 120)
        #expect(DurationText.seconds("90") == nil)
    }

    @Test func `a percentage has digits on both sides of its point`() {
        #expect(Quantity.percent("12.5%") == 12.5 && Quantity.percent("5%") == 5)
        #expect(["5", ".5%", "5.%", "+5%", "1e1%", "%", "1.2.3%"].allSatisfy { Quantity.percent($0) == nil })
    }
}
