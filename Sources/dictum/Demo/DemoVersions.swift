internal import Foundation

/// The versions that the demo's origin serves.
enum DemoVersions: Sendable {
    /// A generated feed.
    case generated
    /// Files, each of them one version.
    case files([String])

    static let filesMax = 50
    private static let fileBytesMax = 64 << 20

    /// Takes the files of a folder in natural order (2 before 10), without hidden files.
    init(folder: String) throws(DemoError) {
        let manager = FileManager.default
        guard let names = try? manager.contentsOfDirectory(atPath: folder) else {
            throw DemoError("cannot read the folder \(folder): expected a folder with one file per version")
        }
        let paths = names.filter { !$0.hasPrefix(".") }
            .sorted { $0.compare($1, options: .numeric) == .orderedAscending }
            .map { "\(folder)/\($0)" }
            .filter {
                (try? manager.attributesOfItem(atPath: $0)[.type] as? FileAttributeType) == .typeRegular
            }
        guard !paths.isEmpty else {
            throw DemoError("the folder \(folder) has no files: expected one file per version")
        }
        self = .files(Array(paths.prefix(Self.filesMax)))
    }

    /// The number of versions that the table shows.
    var shownCount: Int {
        switch self {
        case .generated: 8
        case .files(let paths): paths.count
        }
    }

    /// Returns a version, counted from 0; files start again after the last.
    func body(_ number: Int) throws(DemoError) -> [UInt8] {
        switch self {
        case .generated: return DemoFeed.bytes(version: number)
        case .files(let paths):
            let path = paths[number % paths.count]
            guard let data = FileManager.default.contents(atPath: path), data.count <= Self.fileBytesMax
            else {
                throw DemoError(
                    "cannot read \(path): expected a readable file of at most \(Self.fileBytesMax) bytes")
            }
            return [UInt8](data)
        }
    }

    /// The media type, from the extension of the first file.
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
