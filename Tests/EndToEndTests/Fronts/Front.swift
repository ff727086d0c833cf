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

    /// The block of the document that configures it.
    func documentedConfiguration() throws -> String {
        let language = self == .caddy ? "caddyfile" : rawValue
        return try Documentation.blocks(language, of: "deploy/INSTALL.md")[0]
    }

    /// The texts that an operator replaces in that block; each must occur in it.
    private func replacements(port: UInt16, before dictum: UInt16, _ certificates: TestCertificates) -> [(
        String, String
    )] {
        let address = ("127.0.0.1:8080", "127.0.0.1:\(dictum)")
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

    /// Starts it at a port, before Dictum at another.
    func start(
        port: UInt16, before dictum: UInt16, _ certificates: TestCertificates, in folder: TemporaryFolder
    ) throws -> RunningProcess {
        var text = try documentedConfiguration()
        for (documented, own) in replacements(port: port, before: dictum, certificates) {
            try #require(text.contains(documented), "the document's block has no \(documented)")
            text = text.replacing(documented, with: own)
        }
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
            text = "{\n    admin off\n    auto_https disable_redirects\n    skip_install_trust\n}\n" + text
        case .haproxy: break
        }
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
