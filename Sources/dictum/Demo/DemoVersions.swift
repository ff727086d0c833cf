internal import Foundation

/// The versions that the demo's origin serves.
enum DemoVersions: Sendable {
    case generated
    case files([String])

    static let filesMax = 50
    private static let fileBytesMax = 64 << 20

    /// Takes the files of a folder in natural order.
    init(folder: String) throws(CommandError) {
        self = .files(Array(try Self.paths(in: folder).prefix(Self.filesMax)))
    }

    /// Returns the paths of a folder's files in natural order (2 before 10), without hidden files.
    static func paths(in folder: String) throws(CommandError) -> [String] {
        guard let entries = entries(of: folder) else {
            throw CommandError(
                "cannot read the folder \(folder): expected a folder with one file per version")
        }
        let paths = entries.filter { $0.type == .typeRegular }.map(\.path)
        guard !paths.isEmpty else {
            throw CommandError("the folder \(folder) has no files: expected one file per version")
        }
        return paths
    }

    /// Returns the visible entries of a folder in natural order; nil if it cannot be read.
    static func entries(of folder: String) -> [(path: String, type: FileAttributeType)]? {
        let manager = FileManager.default
        let names = try? manager.contentsOfDirectory(atPath: folder).filter { !$0.hasPrefix(".") }
        return names?.sorted { $0.compare($1, options: .numeric) == .orderedAscending }.compactMap { name in
            let path = "\(folder)/\(name)"
            let attributes = try? manager.attributesOfItem(
                atPath: URL(filePath: path).resolvingSymlinksInPath().path)
            return (attributes?[.type] as? FileAttributeType).map { (path, $0) }
        }
    }

    var shownCount: Int {
        switch self {
        case .generated: 8
        case .files(let paths): paths.count
        }
    }

    /// Returns a version, counted from 0; files start again after the last.
    func body(_ number: Int) throws(CommandError) -> [UInt8] {
        switch self {
        case .generated: return DemoFeed.bytes(version: number)
        case .files(let paths): return try Self.contents(of: paths[number % paths.count])
        }
    }

    /// Returns the bytes of a file of bounded size.
    static func contents(of path: String) throws(CommandError) -> [UInt8] {
        [UInt8](try InputFile.read(path, max: fileBytesMax))
    }

    /// The media type, from the extension of the first file.
    var mediaType: String {
        guard case .files(let paths) = self, let first = paths.first else { return "application/json" }
        return Self.mediaType(ofFile: first)
    }

    /// Returns the media type by the extension of a file; JSON for unknown ones.
    static func mediaType(ofFile path: String) -> String {
        switch URL(filePath: path).pathExtension.lowercased() {
        case "html", "htm": "text/html"
        case "xml", "rss", "atom": "application/xml"
        case "js", "mjs": "application/javascript"
        case "css": "text/css"
        case "csv": "text/csv"
        case "txt", "md": "text/plain"
        case "svg": "image/svg+xml"
        case "wasm": "application/wasm"
        default: "application/json"
        }
    }
}

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
