internal import Foundation
internal import TestSupport
internal import Testing

/// A proxy that operators put in front of Dictum, configured by the text of `deploy/INSTALL.md`.
enum Front: String, CaseIterable, CustomTestStringConvertible {
    case nginx, caddy, haproxy

    var testDescription: String { rawValue }

    /// The path of its program, or nil if it is not installed.
    var program: String? {
        ["/usr/sbin", "/usr/bin", "/usr/local/bin"].map { "\($0)/\(rawValue)" }.first {
            FileManager.default.isExecutableFile(atPath: $0)
        }
    }

    /// The reason for which tests are skipped without it.
    var absence: String { "no \(rawValue) here: `.ci/setup test` installs it" }

    /// Returns a port that is free, or was a moment ago.
    static func freePort() throws -> UInt16 {
        let holder = try Origin.closing { _ in nil }
        defer { holder.stop() }
        return holder.port
    }

    /// The block of the document that configures it, in the chapter about proxies.
    private func documentedConfiguration() throws -> String {
        let language = self == .caddy ? "caddyfile" : rawValue
        return try Documentation.blocks(language, of: "deploy/INSTALL.md")[0]
    }

    /// Settings of Caddy that only tests need, within its global options.
    private static let caddyOptions = "    admin off\n    skip_install_trust\n    default_bind 127.0.0.1\n"

    /// The texts that an operator replaces in that block; each must occur in it.
    private func replacements(port: UInt16, before dictum: String, _ certificates: TestCertificates) -> [(
        String, String
    )] {
        let address = ("127.0.0.1:8080", dictum)
        let (certificate, key) = (certificates.file("server.pem"), certificates.file("server.key"))
        return switch self {
        case .nginx:
            [
                address, ("listen 443 ", "listen 127.0.0.1:\(port) "),
                ("/etc/ssl/api.example.com.pem", certificate), ("/etc/ssl/api.example.com.key", key),
            ]
        case .caddy:
            [address, ("api.example.com {", "https://localhost:\(port) {\n    tls \(certificate) \(key)")]
        case .haproxy:
            [
                address, ("bind :443 ", "bind 127.0.0.1:\(port) "),
                ("/etc/haproxy/api.example.com.pem", certificates.file("both.pem")),
            ]
        }
    }

    /// Starts it at a port, before Dictum at another; `scheme` stands before Dictum's address.
    func start(
        port: UInt16, before dictum: UInt16, by scheme: String = "", _ certificates: TestCertificates,
        in folder: TemporaryFolder
    ) throws -> RunningProcess {
        var text = try Self.replaced(
            replacements(port: port, before: "\(scheme)127.0.0.1:\(dictum)", certificates),
            in: documentedConfiguration())
        let both = ["server.pem", "server.key"].map {
            FileManager.default.contents(atPath: certificates.file($0)) ?? Data()
        }
        try certificates.write(both.map { String(decoding: $0, as: UTF8.self) }.joined(), to: "both.pem")
        let path = folder.path
        switch self {
        case .nginx:
            let places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
                "\($0)_temp_path \(path)/\($0);"
            }
            // Else its workers are a user that may not look into the folder.
            text = """
                \(geteuid() == 0 ? "user root;" : "") daemon off; pid \(path)/nginx.pid; error_log \(path)/error.log;
                events {}
                http { access_log off; \(places.joined(separator: " "))
                \(text)
                }
                """
        case .caddy:
            text = "{\n\(Self.caddyOptions)    auto_https disable_redirects\n}\n" + text
        case .haproxy: break
        }
        return try start(configuredBy: text, in: folder)
    }

    /// Starts Caddy for HTTP/3 alone, as the chapter about HTTP/3 says.
    static func startForHTTP3(
        port: UInt16, before dictum: UInt16, _ certificates: TestCertificates, in folder: TemporaryFolder
    ) throws -> RunningProcess {
        let text = try Documentation.blocks("caddyfile", of: "deploy/INSTALL.md", under: "## HTTP/3")[0]
        let own = try replaced(
            [
                ("{\n    auto_https", "{\n\(caddyOptions)    auto_https"),
                ("127.0.0.1:8080", "127.0.0.1:\(dictum)"),
                ("api.example.com:444", "localhost:\(port)"),
                ("/etc/dictum/tls/fullchain.pem", certificates.file("server.pem")),
                ("/etc/dictum/tls/key.pem", certificates.file("server.key")),
            ], in: text)
        return try Front.caddy.start(configuredBy: own, in: folder)
    }

    /// Puts a test's own texts in the place of documented ones, each of which must occur.
    static func replaced(_ replacements: [(String, String)], in text: String) throws -> String {
        var text = text
        for (documented, own) in replacements {
            try #require(text.contains(documented), "the document's block has no \(documented)")
            text = text.replacing(documented, with: own)
        }
        return text
    }

    private func start(configuredBy text: String, in folder: TemporaryFolder) throws -> RunningProcess {
        let path = folder.path
        try folder.write(Array(text.utf8), to: "front.conf")
        let file = "\(path)/front.conf"
        let arguments =
            switch self {
            case .nginx: ["-p", path, "-e", "\(path)/error.log", "-c", file]
            case .caddy: ["run", "--config", file, "--adapter", "caddyfile"]
            case .haproxy: ["-db", "-f", file]
            }
        return try RunningProcess(
            arguments, of: try #require(program), in: path,
            environment: ["HOME": path, "XDG_DATA_HOME": path, "XDG_CONFIG_HOME": path])
    }
}
