import TestSupport

/// A feed over one day: its body at any second, and how often the body changes.
struct SimulatedFeed: Sendable {
    let title: String
    /// Seconds between two bodies; nil for a new body in every response.
    let periodSeconds: Int?

    static let always = SimulatedFeed(title: "changes with every request", periodSeconds: nil)
    static let often = SimulatedFeed(title: "changes every 5 s", periodSeconds: 5)
    static let seldom = SimulatedFeed(title: "changes every 3 min", periodSeconds: 180)

    /// Seconds between two deploys, which rename and reorder the fields.
    static let deploySeconds = 4 * 3600
    /// Seconds between two new items, which push the oldest out.
    private static let itemSeconds = 60
    private static let itemCount = 150

    /// The deploy that was in force.
    static func deploy(at second: Int) -> Int { second / deploySeconds }

    /// Returns the body of a second; every `number` gives another body, and every `page` is another URL.
    static func body(at second: Int, number: Int, page: Int = 0) -> [UInt8] {
        let names = fieldNames(deploy: deploy(at: second))
        let newest = 100_000 + page * 1_000_000 + second / itemSeconds
        var text = #"{"\#(names[0])":"\#(number)-\#(second)","\#(names[1])":["#
        for position in 0..<itemCount {
            text += (position > 0 ? "," : "") + item(newest - position, second: second, names)
        }
        return Array((text + "]}\n").utf8)
    }

    private static func item(_ number: Int, second: Int, _ names: [String]) -> String {
        var random = SplitMix(seed: UInt64(number))
        let words = (0..<12).map { _ in word(random.next() % 400) }.joined(separator: " ")
        // A count that grows every ten minutes, not for all items at once.
        let count = Int(random.next() % 1000) + (second + number * 37) / 600
        let values = [
            #""\#(String(random.next(), radix: 16))""#, #""\#(words)""#, String(count),
            String(random.next() % 90_000), #""\#(word(random.next() % 20))""#,
        ]
        let fields = zip(names.dropFirst(2), values).map { #""\#($0)":\#($1)"# }.sorted()
        return "{" + fields.joined(separator: ",") + "}"
    }

    private static func fieldNames(deploy: Int) -> [String] {
        (0..<7).map { word(UInt64(deploy * 7 + $0) + 1000) }
    }

    private static func word(_ number: UInt64) -> String {
        var random = SplitMix(seed: number)
        let length = 4 + Int(random.next() % 6)
        return String(decoding: (0..<length).map { _ in 97 + UInt8(random.next() % 26) }, as: UTF8.self)
    }
}
