/// A made-up news feed of about 180 KB, as an API would serve it.
///
/// Each version adds an item at the front, drops the last one, and changes a few scores.
enum DemoFeed {
    private static let itemCount = 500
    private static let subjects = [
        "A small database", "The city council", "An old compiler", "Our weather model", "The night train",
        "A public library", "The tide gauge", "An open telescope", "The bicycle bridge", "A mountain hut",
    ]
    private static let verbs = [
        "learns to", "is about to", "has decided to", "will no longer", "finds a way to", "was built to",
    ]
    private static let objects = [
        "survive the winter", "answer in a millisecond", "open its archive", "count every bird",
        "share its measurements", "run without a network", "welcome more visitors", "forget nothing",
    ]
    private static let words = [
        "after", "years", "of", "patient", "work", "the", "team", "has", "published", "its", "first",
        "results", "and", "invites", "everyone", "to", "check", "them", "against", "their", "own", "records",
        "while", "critics", "ask", "for", "more", "data", "before", "any", "plan", "is", "made",
    ]

    /// Returns one version; the same bytes on every call.
    static func bytes(version: Int) -> [UInt8] {
        let newest = itemCount + version
        let items = (0..<itemCount).map { item(newest - $0, version: version) }
        return Array("{\"version\":\(version + 1),\"items\":[\(items.joined(separator: ",\n"))]}\n".utf8)
    }

    private static func item(_ number: Int, version: Int) -> String {
        var random = Noise(state: UInt64(number))
        let title = "\(random.pick(subjects)) \(random.pick(verbs)) \(random.pick(objects))"
        let summary = (0..<24).map { _ in random.pick(words) }.joined(separator: " ")
        let identifier = String(random.next(), radix: 16)
        // Each score grows by one every 97 versions, at a different version for each item: about five change per
        // version.
        let score = random.next() % 400 + UInt64((number + version) / 97)
        return
            #"{"id":"\#(identifier)","number":\#(number),"title":"\#(title)","score":\#(score),"#
            + #""comments":\#(random.next() % 90),"url":"https://news.example/items/\#(identifier)","#
            + #""summary":"\#(summary)."}"#
    }

    /// A deterministic pseudo-random generator.
    private struct Noise {
        var state: UInt64

        mutating func next() -> UInt64 {
            // This is a linear congruential step with its upper half mixed into the lower.
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state ^ state >> 29) &* 0x9E37_79B9_7F4A_7C15 >> 16
        }

        mutating func pick(_ choices: [String]) -> String { choices[Int(next() % UInt64(choices.count))] }
    }
}
