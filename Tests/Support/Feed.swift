/// The answers of an API whose list changes a little from version to version; about 300 bytes an item.
package enum Feed {
    private static let places = [
        "Alder Creek", "Bald Hill", "Cedar Flat", "Dry Lake", "Elk Ridge", "Fern Canyon",
    ]
    private static let kinds = ["Wildfire", "Prescribed", "Structure", "Vehicle"]
    private static let words = [
        "containment", "crews", "remain", "on", "scene", "evacuation", "order", "lifted", "for", "zone",
        "road", "closed", "between", "mile", "markers", "wind", "north", "expected", "overnight", "update",
    ]

    /// One version: later ones have new items in front, lose old ones, and change a field of every thirtieth.
    package static func bytes(version: Int, items: Int) -> [UInt8] {
        var text = #"{"version":\#(version),"items":["#
        for position in 0..<items {
            if position > 0 { text += "," }
            text += item(number: 10_000 + items - position + version * 2, version: version)
        }
        return Array((text + "]}\n").utf8)
    }

    private static func item(number: Int, version: Int) -> String {
        var random = SplitMix(seed: UInt64(number))
        let place = places[Int(random.next() % UInt64(places.count))]
        let kind = kinds[Int(random.next() % UInt64(kinds.count))]
        let acres = random.next() % 100_000
        let latitude = 32_000_000 + random.next() % 9_000_000
        let longitude = 114_000_000 + random.next() % 9_000_000
        let sentence = (0..<12).map { _ in words[Int(random.next() % UInt64(words.count))] }.joined(
            separator: " ")
        let contained = number % 30 == 0 ? (number + version * 7) % 100 : number % 100
        return
            #"{"id":"\#(String(random.next(), radix: 16))","number":\#(number),"name":"\#(place) \#(number % 97)","#
            + #""kind":"\#(kind)","acres":\#(acres),"contained":\#(contained),"#
            + #""position":[\#(latitude)e-6,-\#(longitude)e-6],"note":"\#(sentence)"}"#
    }
}
