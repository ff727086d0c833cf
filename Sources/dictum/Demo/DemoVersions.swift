internal import Foundation

/// What the demo's origin serves, version after version.
enum DemoVersions: Sendable {
    /// A feed that is made up as it is asked for.
    case generated
    /// Files, each of which is a version.
    case files([String])

    /// The most files that are shown.
    static let filesMax = 50
    private static let fileBytesMax = 64 << 20

    /// The files of a folder in natural order (2 before 10); hidden ones are left out.
    init(folder: String) throws(DemoError) {
        let manager = FileManager.default
        guard let names = try? manager.contentsOfDirectory(atPath: folder) else {
            throw DemoError("cannot read the folder \(folder); give one with a file for each version")
        }
        let paths = names.filter { !$0.hasPrefix(".") }
            .sorted { $0.compare($1, options: .numeric) == .orderedAscending }
            .map { "\(folder)/\($0)" }
            .filter {
                (try? manager.attributesOfItem(atPath: $0)[.type] as? FileAttributeType) == .typeRegular
            }
        guard !paths.isEmpty else {
            throw DemoError("the folder \(folder) has no files; give one with a file for each version")
        }
        self = .files(Array(paths.prefix(Self.filesMax)))
    }

    /// How many versions the table shows.
    var shownCount: Int {
        switch self {
        case .generated: 8
        case .files(let paths): paths.count
        }
    }

    /// The version of that number, from 0; files begin again after the last.
    func body(_ number: Int) throws(DemoError) -> [UInt8] {
        switch self {
        case .generated: return DemoFeed.bytes(version: number)
        case .files(let paths):
            let path = paths[number % paths.count]
            guard let data = FileManager.default.contents(atPath: path), data.count <= Self.fileBytesMax
            else {
                throw DemoError("cannot read \(path), or it has more than \(Self.fileBytesMax) bytes")
            }
            return [UInt8](data)
        }
    }

    /// The media type, by the name of the first file.
    var mediaType: String {
        guard case .files(let paths) = self, let first = paths.first else { return "application/json" }
        return switch URL(filePath: first).pathExtension.lowercased() {
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
