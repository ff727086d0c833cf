internal import Dictionaries
internal import Foundation
internal import Storage
internal import TestSupport
internal import Testing

/// `dictum serve` as a process before an upstream of the test; ends with this object.
final class ServedProxy {
    let origin: Origin
    /// The folder of the configuration, the store and the output of curl.
    let folder: TemporaryFolder
    let process: RunningProcess
    let port: UInt16
    /// The socket of the admin listener, one per process even on the same folder; nil if it is at a port.
    private let adminSocket: String?

    let scheme: String

    /// Starts on a free port.
    ///
    /// - Parameters:
    ///   - listener: Further settings of the listener.
    ///   - upstream: Replaces the origin as the upstream.
    ///   - log: The settings of `log`.
    ///   - admin: Replaces the admin listener at a socket of its own.
    ///   - launcher: A command that executes the program named after it.
    init(
        _ origin: Origin, in folder: TemporaryFolder, _ settings: String = "", store: String? = nil,
        listener: String = "", upstream: String? = nil, log: String = "format: json",
        admin: String? = nil, launcher: [String] = []
    ) throws {
        self.origin = origin
        self.folder = folder
        adminSocket = admin == nil ? "\(folder.path)/admin\(origin.port).sock" : nil
        let ownAdmin = adminSocket.map { "{address: \"unix:\($0)\"}" }
        let text = """
            listeners: [{address: "127.0.0.1:0"\(listener.isEmpty ? "" : ", \(listener)")}]
            upstream: \(upstream ?? "{urls: [\"http://127.0.0.1:\(origin.port)\"]}")
            store: {path: "\(store ?? "\(folder.path)/store.sqlite")"}
            admin: \(admin ?? ownAdmin ?? "off")
            log: {\(log)}
            \(settings)
            """
        try folder.write(Array(text.utf8), to: "dictum.yaml")
        let command = launcher + [RunningProcess.dictum, "serve", "--config", "\(folder.path)/dictum.yaml"]
        process = try RunningProcess(Array(command.dropFirst()), of: command[0])
        // Earlier lines may name other addresses, such as that of an upstream that is down.
        let errors = try process.waitFor("listening on http")
        let match = try #require(errors.firstMatch(of: /listening on (https?):\/\/127.0.0.1:([0-9]+)/))
        scheme = String(match.output.1)
        port = try #require(UInt16(match.output.2))
    }

    deinit { process.stop() }

    /// The address of a path.
    func url(_ path: String) -> String { "\(scheme)://127.0.0.1:\(port)\(path)" }

    /// Fetches a path of api.test with curl.
    func curl(_ path: String, _ arguments: String...) throws -> CurlAnswer {
        try curl(path, arguments: arguments)
    }

    /// Fetches a path of api.test with curl.
    func curl(_ path: String, arguments: [String]) throws -> CurlAnswer {
        let result = try RunningProcess.run(
            ["curl", "-sS", "--max-time", "300", "-H", "Host: api.test", "-D", "head", "-o", "body"]
                + arguments + [url(path)],
            of: "/usr/bin/env", in: folder.path)
        defer {
            for name in ["head", "body"] {
                try? FileManager.default.removeItem(atPath: "\(folder.path)/\(name)")
            }
        }
        let head = String(decoding: folder.read("head") ?? [], as: UTF8.self)
        let last = head.components(separatedBy: "\r\n\r\n").last { !$0.isEmpty } ?? ""
        return CurlAnswer(code: result.status, head: WireMessage(head: last), body: folder.read("body") ?? [])
    }

    /// Has three clients fetch a path, so that its body is proven to be public.
    func prove(_ path: String, host: String = "127.0.0.1", fields: [String] = []) throws {
        for number in 1...3 {
            let fields = ["X-Forwarded-For: 203.0.113.\(number)", "X-Forwarded-Proto: https"] + fields
            let result = try RunningProcess.run(
                ["curl", "-sS", "--insecure", "--max-time", "300", "-o", "/dev/null"]
                    + fields.flatMap { ["-H", $0] } + ["-H", "Host: \(host):\(port)", url(path)],
                of: "/usr/bin/env")
            try #require(result.status == 0, "\(result.errors)")
        }
    }

    /// True if a page that a browser navigates to names a dictionary to fetch.
    func announces(_ path: String, host: String) throws -> Bool {
        let fields = [
            "X-Forwarded-For: 203.0.113.1", "X-Forwarded-Proto: https", "Host: \(host):\(port)",
            "Sec-Fetch-Dest: document", "Accept-Encoding: gzip, br, zstd, dcb, dcz",
        ]
        let result = try RunningProcess.run(
            ["curl", "-sS", "--insecure", "--max-time", "300", "-D", "-", "-o", "/dev/null"]
                + fields.flatMap { ["-H", $0] } + [url(path)],
            of: "/usr/bin/env")
        try #require(result.status == 0, "\(result.errors)")
        return result.text.contains("rel=\"compression-dictionary\"")
    }

    /// Fetches a path with curl, offering a file as the dictionary; OpenSSL makes its digest.
    func curl(_ path: String, _ coding: String, over name: String) throws -> CurlAnswer {
        let digest = try RunningProcess.run(
            ["-c", "openssl dgst -sha256 -binary \(name) | base64 -w0"], of: "/bin/bash", in: folder.path)
        return try curl(
            path, "-H", "Accept-Encoding: \(coding)", "-H", "Available-Dictionary: :\(digest.text):")
    }

    /// Fetches a path with curl over a dictionary that is still on disk, until the response is a delta; returns that.
    ///
    /// A body that is not read in time is left out of the response, and is there for a later one.
    func delta(_ path: String, _ coding: String, over name: String) throws -> CurlAnswer {
        var answer = try curl(path, coding, over: name)
        try waitUntil("the dictionary is read: \(answer.head)") {
            if answer.head["Content-Encoding"] != coding { answer = try curl(path, coding, over: name) }
            return answer.head["Content-Encoding"] == coding
        }
        return answer
    }

    /// Returns the address of the admin page at a port, under a name for this machine.
    func adminURL(_ host: String) throws -> String {
        let log = try process.waitFor("the admin page is at")
        let match = try #require(log.firstMatch(of: /the admin page is at http:\/\/127.0.0.1:([0-9]+)/))
        return "http://\(host):\(match.output.1)/"
    }

    /// The arguments of curl for a path of the admin listener.
    private func adminArguments(_ path: String) throws -> [String] {
        let common = ["curl", "-sS", "--max-time", "300"]
        guard let adminSocket else { return common + [try adminURL("localhost") + path.dropFirst()] }
        return common + ["--unix-socket", adminSocket, "http://localhost\(path)"]
    }

    /// The metrics as an operator reads them.
    func metrics() throws -> String {
        try RunningProcess.run(adminArguments("/metrics"), of: "/usr/bin/env").text
    }

    /// Returns the status of a path of the admin listener, requested with this Host field.
    func adminStatus(_ path: String, host: String) throws -> String {
        try RunningProcess.run(
            adminArguments(path) + ["-o", "/dev/null", "-w", "%{http_code}", "-H", "Host: \(host)"],
            of: "/usr/bin/env"
        ).text
    }

    /// The sum of a metric over its lines that contain a text, such as a label; there must be one.
    func metric(_ name: String, where label: String? = nil) throws -> Double {
        let text = try metrics()
        let lines = text.split(separator: "\n").filter { line in
            (line.hasPrefix(name + "{") || line.hasPrefix(name + " ")) && label.map(line.contains) != false
        }
        let values = lines.compactMap { $0.split(separator: " ").last.flatMap { Double($0) } }
        try #require(!values.isEmpty, "no \(name) \(label ?? "") in \(text)")
        return values.reduce(0, +)
    }

    /// Runs a query on the store's file with the sqlite3 command, and returns its output.
    func sqlite(_ query: String) throws -> String {
        try RunningProcess.run(
            ["sqlite3", "-readonly", "store.sqlite", query], of: "/usr/bin/env", in: folder.path
        ).text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

/// The output of curl.
struct CurlAnswer {
    /// The exit code of curl.
    let code: Int32
    /// The last head.
    let head: WireMessage
    /// The body as curl wrote it.
    let body: [UInt8]

    /// True if curl succeeded and wrote these bytes.
    func carries(_ bytes: [UInt8]) -> Bool { code == 0 && body == bytes }
}
