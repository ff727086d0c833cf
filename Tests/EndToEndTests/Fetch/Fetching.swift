internal import Dictionaries
internal import Foundation
internal import TestSupport
internal import Testing

/// `dictum fetch` with a cache of its own; each run is a new process.
struct Fetching {
    /// The output of `--json`, as far as most tests need it.
    struct Report: Decodable {
        let status: Int
        let `protocol`: String
        let coding: String
        let body_bytes: Int
        let wire_bytes: Int
        let advertised: String?
        let stored: Bool
        let revalidated: Bool
    }

    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Runs it with these arguments.
    func run(_ arguments: String...) throws -> ProcessResult { try run(arguments) }

    /// Runs it with these arguments.
    func run(_ arguments: [String]) throws -> ProcessResult {
        try RunningProcess.run(["fetch", "--cache", "\(folder.path)/cache"] + arguments)
    }

    /// Fetches, and returns the report and the body; any failure fails the test.
    func fetch(_ url: String, _ arguments: String...) throws -> (report: Report, body: [UInt8]) {
        try fetch(url, arguments: arguments)
    }

    /// Fetches, and returns the report and the body; any failure fails the test.
    func fetch(_ url: String, arguments: [String]) throws -> (report: Report, body: [UInt8]) {
        let result = try RunningProcess.run(
            ["fetch", "--cache", "\(folder.path)/cache", "--json", "-o", "\(folder.path)/body", url]
                + arguments)
        try #require(result.status == 0, "\(result.errors)")
        let report = try JSONDecoder().decode(Report.self, from: Data(result.output))
        return (report, try #require(folder.read("body")))
    }

    /// The folder of those who send no credentials.
    static let nobody = "cache/nobody"

    /// The folder within, in which their dictionaries are.
    var keptFolder: String {
        "\(Self.nobody)/\(folder.names(in: Self.nobody).first { $0.hasSuffix(".dictum") } ?? "none")"
    }

    /// The files in that folder.
    var kept: [String] { folder.names(in: keptFolder) }

    /// Lets every dictionary expire, as time would.
    func expireAll() throws {
        for name in kept where name.hasSuffix(".json") {
            let data = Data(try #require(folder.read("\(keptFolder)/\(name)")))
            var record = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
            var dictionary = try #require(record["dictionary"] as? [String: Any])
            dictionary["expires_at"] = 0
            record["dictionary"] = dictionary
            try folder.write(
                [UInt8](JSONSerialization.data(withJSONObject: record)), to: "\(keptFolder)/\(name)")
        }
    }
}

/// A body that changes a little from version to version.
func feed(_ version: Int) -> [UInt8] {
    let lines = (0..<400).map {
        "{\"id\":\($0),\"name\":\"entry number \($0 &* 7919)\",\"count\":\(($0 + version) / 100)}"
    }
    return Array("{\"version\":\(version),\"items\":[\(lines.joined(separator: ","))]}\n".utf8)
}

/// A body coded over another with our own codec; other tests prove that one against foreign tools.
func coded(_ body: [UInt8], _ coding: ContentCoding, over dictionary: [UInt8]? = nil) -> [UInt8] {
    let use = dictionary.map { DictionaryUse.reference(Body($0)) }
    return (try? Codec.encode(body.span, coding, options: EncoderOptions(dictionary: use))) ?? []
}

/// The value of a field in the head of a request, nil if it is not there.
func field(_ name: String, of head: String?) -> String? {
    let lines = (head ?? "").components(separatedBy: "\r\n")
    return lines.first { $0.lowercased().hasPrefix("\(name.lowercased()): ") }
        .map { String($0.dropFirst(name.count + 2)) }
}

/// Returns the Available-Dictionary field for a body.
func available(_ body: [UInt8]) -> String { ":\(Body(body).digest.base64):" }
