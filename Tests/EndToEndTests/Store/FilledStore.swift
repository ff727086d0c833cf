internal import Dictionaries
internal import Foundation
internal import Storage
internal import TestSupport
internal import Testing

/// A store on disk that a test has filled, and the commands on it.
struct FilledStore {
    let folder: TemporaryFolder
    var path: String { "\(folder.path)/store.sqlite" }

    init() throws {
        folder = try TemporaryFolder()
    }

    /// A body that is known by its number.
    static func body(_ number: Int) -> Body {
        Body(Array("body \(number) ".utf8) + Array(repeating: 0x61, count: 400))
    }

    /// Admits bodies, each as the newest of its chain, and closes the store.
    func admit(
        _ numbers: [Int], authority: String = "api.test", path: String = "/feed", match: String? = nil,
        maxAge: Int = 86_400, now: Int = Int(Date.now.timeIntervalSince1970), isUpstreamMatch: Bool = false
    ) throws {
        let store = try DictionaryStore(configuration: StoreConfiguration(path: self.path))
        for number in numbers {
            try store.admission.admit(
                VersionCandidate(
                    Self.body(number),
                    key: VersionKey(
                        chain: ChainKey(authority: authority, match: match ?? path), url: path, variant: ""),
                    policy: AdmissionPolicy(versions: 1000, maxAge: maxAge), etag: "tag\(number)",
                    contentType: "application/json", isUpstreamMatch: isUpstreamMatch), now: now)
        }
        store.close()
    }

    /// Writes a configuration for it and gives its file.
    func configuration(_ settings: String = "") throws -> String {
        let text = "upstream: {urls: [\"http://127.0.0.1:9\"]}\nstore: {path: \"\(path)\"}\n\(settings)\n"
        try folder.write(Array(text.utf8), to: "dictum.yaml")
        return "\(folder.path)/dictum.yaml"
    }

    /// Runs `dictum store` on it.
    func run(_ arguments: String...) throws -> ProcessResult {
        try RunningProcess.run(["store"] + arguments + ["--store", path])
    }

    /// Runs a query or a change with the sqlite3 command, and returns its output.
    @discardableResult
    func sqlite(_ query: String) throws -> String {
        let result = try RunningProcess.run(
            ["sqlite3", "store.sqlite", query], of: "/usr/bin/env", in: folder.path)
        try #require(result.status == 0, "\(result.errors)")
        return result.text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
