internal import Foundation
internal import TestSupport
internal import Testing

/// The output of `dictum estimate --json`.
struct Estimating: Decodable {
    struct Cost: Decodable {
        let bytes: Int
        let cpuMicroseconds: Double
    }

    struct Plain: Decodable {
        let gzip: Cost
        let br: Cost
        let zstd: Cost
    }

    struct Delta: Decodable {
        let bytes: Int
        let firstBytes: Int
        let indexedCpuMicroseconds: Double
        let strongestBytes: Int?
    }

    struct Deltas: Decodable {
        let versionsBack: Int
        let pairs: Int
        let plainBytes: Int
        let dcz: Delta
        let dcb: Delta
    }

    struct Finding: Decodable {
        let finding: String
        let level: String
    }

    struct Browser: Decodable {
        let keepsSeconds: Int
        let findings: [Finding]
    }

    struct Outcome: Decodable {
        let lifeSeconds: Int
        let holderShare: Double
        let bytesPerDay: Int
        let plainBytesPerDay: Int
    }

    struct Clients: Decodable {
        let count: Int
        let asIs: Outcome?
        let day: Outcome?
    }

    struct Resource: Decodable {
        let name: String
        let url: String?
        let responses: Int
        let versions: Int
        let unchangedShare: Double?
        let periodSeconds: Double?
        let changesEachTime: Bool
        let bodyBytes: Int
        let sentBytes: Int?
        let plain: Plain
        let deltas: [Deltas]
        let obstacle: String?
        let personal: String?
        let browser: Browser?
        let clients: Clients?

        var findingNames: [String] { browser?.findings.map(\.finding) ?? [] }
    }

    struct Route: Decodable {
        let match: String
        let use: String
        let urls: Int
        let reasons: [String]
    }

    struct Routes: Decodable {
        let origin: String
        let routes: [Route]
        let yaml: String
    }

    let resources: [Resource]
    let suggestions: [Routes]
    let warnings: [String]

    /// Clients and a time that a debug build simulates quickly.
    static let quick = ["--clients", "100", "--simulate", "30m"]

    /// Runs the command, which must succeed.
    static func of(_ arguments: String..., in folder: String = "/") throws -> Estimating {
        let result = try RunningProcess.run(["estimate", "--json"] + quick + arguments, in: folder)
        try #require(result.status == 0, "\(result.errors)")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Estimating.self, from: Data(result.output))
    }

    /// Writes versions of a feed as the files of a folder.
    static func write(_ count: Int, items: Int, to folder: TemporaryFolder) throws -> [[UInt8]] {
        let versions = (0..<count).map { Feed.bytes(version: $0, items: items) }
        for (number, version) in versions.enumerated() { try folder.write(version, to: "\(number).json") }
        return versions
    }

    /// Checks with the product's own command that suggested routes are a valid configuration.
    static func check(_ yaml: String) throws {
        let folder = try TemporaryFolder()
        let text = "upstream: {urls: [\"http://127.0.0.1:9\"]}\n" + yaml
        try folder.write(Array(text.utf8), to: "dictum.yaml")
        let result = try RunningProcess.run(["check", "--config", "dictum.yaml"], in: folder.path)
        #expect(result.status == 0, "\(result.errors)\n\(text)")
    }
}

/// One entry of a HAR file, as browsers write it.
struct ArchiveEntry {
    var url = "https://api.test/feed"
    var second = 0
    var status = 200
    var method = "GET"
    var requestFields: [String: String] = [:]
    var fields = ["Cache-Control": "public, max-age=600"]
    /// The content of the request, as it stands in a JSON string.
    var content = ""
    var body: [UInt8] = []

    var json: String {
        func list(_ fields: [String: String]) -> String {
            fields.sorted { $0.key < $1.key }.map { #"{"name":"\#($0.key)","value":"\#($0.value)"}"# }.joined(
                separator: ",")
        }
        let text = Data(body).base64EncodedString()
        return #"""
            {"startedDateTime":"2026-11-01T10:\#(second / 600)\#(second / 60 % 10):\#(second % 60 / 10)\#(second % 10).123Z",
            "request":{"method":"\#(method)","url":"\#(url)","headers":[\#(list(requestFields))],"postData":{"text":"\#(content)"}},
            "response":{"status":\#(status),"headers":[\#(list(fields))],"bodySize":-1,
            "content":{"size":\#(body.count),"mimeType":"application/json","text":"\#(text)","encoding":"base64"}}}
            """#
    }

    /// Writes a HAR file.
    static func write(_ entries: [ArchiveEntry], to folder: TemporaryFolder) throws {
        let text = #"{"log":{"version":"1.2","entries":[\#(entries.map(\.json).joined(separator: ","))]}}"#
        try folder.write(Array(text.utf8), to: "session.har")
    }
}
