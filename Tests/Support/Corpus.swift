package import Dictionaries

/// A body and the dictionary that it is coded over, for the tests that every coding passes.
package struct Corpus: Sendable, CustomStringConvertible {
    package let name: String
    package let body: [UInt8]
    package let dictionary: Body

    package var description: String { name }

    private init(_ name: String, _ body: [UInt8], over dictionary: [UInt8]) {
        self.name = name
        self.body = body
        self.dictionary = Body(dictionary)
    }

    package static let emptyBody = Corpus("an empty body", [], over: Feed.bytes(version: 0, items: 40))
    package static let oneByte = Corpus("one byte", [0x7b], over: Feed.bytes(version: 0, items: 40))
    package static let oneByteLengthField = Corpus(
        "255 bytes", Array(Feed.bytes(version: 1, items: 2).prefix(255)),
        over: Feed.bytes(version: 0, items: 2))
    package static let smallFeed = Corpus(
        "a feed of 12 KB", Feed.bytes(version: 1, items: 40), over: Feed.bytes(version: 0, items: 40))
    package static let largeFeed = Corpus(
        "a feed of 250 KB", Feed.bytes(version: 1, items: 850), over: Feed.bytes(version: 0, items: 850))
    package static let noise = Corpus(
        "100,000 incompressible bytes", Noise.bytes(100_000, seed: 1), over: Noise.bytes(90_000, seed: 2))
    package static let sameLarge = Corpus("4 MB equal to its dictionary", fourMegabytes, over: fourMegabytes)
    package static let beyondWindow = Corpus(
        "9 MB", Array((fourMegabytes + fourMegabytes + fourMegabytes).prefix(9_000_000)),
        over: Feed.bytes(version: 0, items: 850))
    package static let tinyDictionary = Corpus(
        "a dictionary of one byte", Feed.bytes(version: 1, items: 40), over: [0x7b])
    // RFC 8878 section 5: the magic number of formatted dictionaries, which these bytes are not.
    package static let magicDictionary = Corpus(
        "a dictionary that begins with Zstandard's magic number",
        [0x37, 0xa4, 0x30, 0xec] + Feed.bytes(version: 1, items: 40),
        over: [0x37, 0xa4, 0x30, 0xec] + Feed.bytes(version: 0, items: 40))
    package static let same = Corpus(
        "a feed equal to its dictionary", Feed.bytes(version: 0, items: 850),
        over: Feed.bytes(version: 0, items: 850))

    package static let all = small + [noise, largeFeed, same, sameLarge, beyondWindow]
    package static let small = [
        emptyBody, oneByte, oneByteLengthField, smallFeed, tinyDictionary, magicDictionary,
    ]

    // Half text, half noise, so that only long matches shrink it.
    private static let fourMegabytes: [UInt8] = {
        let text = Feed.bytes(version: 0, items: 850)
        var bytes: [UInt8] = []
        for seed in 10..<18 as Range<UInt64> {
            bytes += Noise.bytes(270_000, seed: seed)
            bytes += text.prefix(230_000)
        }
        return bytes
    }()
}
