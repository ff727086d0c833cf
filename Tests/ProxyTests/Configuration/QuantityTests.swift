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

    @Test(
        arguments: [
            ("1d", 86_400_000), ("1h", 3_600_000), ("1m", 60_000), ("1s", 1_000), ("1ms", 1),
            ("2d", 172_800_000),
            ("0s", 0), ("1", nil), ("ms", nil), ("86401s", 86_401_000), ("172801s", nil),
        ] as [(String, Int?)])
    func `a duration is counted in milliseconds by its unit`(text: String, milliseconds: Int?) {
        #expect(Quantity.duration.value(of: text, in: 0...172_800_000) == milliseconds)
    }

    @Test(
        arguments: [
            ("1", 1), ("1KiB", 1_024), ("1MiB", 1_048_576), ("1GiB", 1_073_741_824),
            ("1TiB", 1_099_511_627_776),
            ("9223372036854775807", Int.max),  // 2^24 TiB are 2^64 bytes.
            ("16777216TiB", nil), ("1B", nil),
        ] as [(String, Int?)])
    func `a size is counted in bytes by its unit`(text: String, bytes: Int?) {
        #expect(Quantity.size.value(of: text, in: 0 ... .max) == bytes)
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
