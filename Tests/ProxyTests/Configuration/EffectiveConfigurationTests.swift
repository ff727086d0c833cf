import Foundation
import HTTP
import TestSupport
import Testing

@testable import Proxy

@Suite struct EffectiveConfigurationTests {
    private func effective(_ text: String) throws -> EffectiveConfiguration {
        EffectiveConfiguration(try Configuration.parse(Array(text.utf8)))
    }

    @Test(arguments: [
        #"upstream: {urls: ["http://127.0.0.1:9000"]}"#,
        #"{request_id: "%X", upstream: {urls: ["http://127.0.0.1:9000"]}}"#,
        ##"{request_id: "#X", upstream: {urls: ["http://127.0.0.1:9000"]}}"##,
        ConfigurationReference.text,
        """
        listeners: [{address: "[::1]:8080", protocols: [http/1.1]}, {address: "unix:/run/d \\"x\\".sock"}]
        trusted_proxies: [loopback, 10.0.0.0/8, "2001:db8::/32"]
        upstreams: {shop: {urls: ["http://127.0.0.1:9001"], health: on}, b: {urls: ["https://b.test"]}}
        routes:
          - {match: [/v1/*, "/v2/:id"], host: ["*.a.test", b.test], upstream: shop, strip_prefix: /v1, dictionary: off}
          - match: "/x/:name.js"
            upstream: b
            priority: interactive
            limits: {rate: 10/s, request_body: 1MiB}
            headers: {response: {set: {X-Note: "a: b, \\"c\\" #d"}, remove: [Server]}}
            dictionary: {covers: "/x/<name>.js", ttl: 7d, cache_control: "public, max-age=60", match_dest: [script]}
          - {match: "/*", upstream: b, announce: [/x/a.js]}
        store: {path: "./a: b.sqlite"}
        admin: off
        log: {access: 1%}
        """,
    ])
    func `the effective configuration is a configuration with the same effect`(text: String) throws {
        // strip_prefix /v1 must begin every match.
        let text = text.replacing(#"[/v1/*, "/v2/:id"]"#, with: #"[/v1/*, "/v1/b/:id"]"#)
        let once = try effective(text)
        #expect(once.redacted.isEmpty)
        let again = try effective(once.yaml)
        #expect(once.yaml == again.yaml)
        #expect(once.node != nil)
        let (one, two) = try (
            Configuration.parse(Array(text.utf8)), Configuration.parse(Array(once.yaml.utf8))
        )
        for effect in ReloadEffect.allCases {
            #expect(Settings.all.changes(effect, from: one, to: two).isEmpty)
        }
    }

    @Test func `what has an effect only beside another setting is shown only beside that`() throws {
        var settings = try configuration("routes: [{match: /a, dictionary: off}]")
        settings.listeners[0].tls = Configuration.TLS()
        let yaml = EffectiveConfiguration(settings).yaml
        #expect(yaml.contains("announce: off") && !yaml.contains("client_auth"), "\(yaml)")
        settings.listeners[0].tls?.server.clientAuthority = "/ca.pem"
        #expect(EffectiveConfiguration(settings).yaml.contains("client_auth: required"))
    }

    @Test func `the name of a field that YAML would read as a comment is quoted`() throws {
        var settings = try configuration("request_id: \"%X\"")
        settings.listeners[0].tls = Configuration.TLS()
        settings.listeners[0].tls?.clientSubjectField = "#x"
        let shown = EffectiveConfiguration(settings)
        #expect(shown.yaml.contains("client_subject_field: \"#x\"\n"), "\(shown.yaml)")
        #expect(shown.yaml.contains("request_id: \"%X\"\n") && shown.node != nil, "\(shown.yaml)")
    }

    @Test func `secrets are left out, wherever they stand`() throws {
        let folder = try TemporaryFolder()
        try Data("file-s3cret-0123456\n".utf8).write(to: URL(filePath: folder.file("token")))
        let text = """
            upstream: {urls: ["http://127.0.0.1:9000"]}
            routes: [{match: /*, headers: {request: {set: {X-Key: "s3cret", Authorization: "Bearer s3cret"}}}}]
            admin: {token_file: "\(folder.file("token"))"}
            """
        let shown = try effective(text)
        #expect(!shown.yaml.contains("s3cret"))
        #expect(shown.yaml.contains("token_file: "), "the path is no secret")
        #expect(shown.redacted == ["routes[0].headers.request.set"])
        let token = try effective(
            #"{upstream: {urls: ["http://127.0.0.1:9000"]}, admin: {token: "s3cret-0123456789"}}"#)
        #expect(token.yaml.contains("token: (redacted)"))
        #expect(token.redacted == ["admin.token"])
    }

    @Test(
        arguments: [
            ("", "cannot be read"), ("short", "invalid token"), ("0123456789 abcdef", "invalid token"),
            ("\n0123456789abcdef", "cannot be read"),
            (String(repeating: "x", count: 1025), "invalid token"),
            ("0123456789abcdef", nil), ("0123456789abcdef\r\n", nil), ("0123456789abcdef\n\n", nil),
            (String(repeating: "x", count: 1024), nil),
        ] as [(String, String?)])
    func `the first line of a token's file is the token`(content: String, problem: String?) throws {
        let folder = try TemporaryFolder()
        let file = folder.file("token")
        if !content.isEmpty { try Data(content.utf8).write(to: URL(filePath: file)) }
        let text = "upstream: {urls: [\"http://127.0.0.1:9\"]}\nadmin: {token_file: \"\(file)\"}\n"
        guard let problem else {
            #expect(
                try Configuration.parse(Array(text.utf8)).admin?.tokenInUse?.hasPrefix("0123")
                    == (content.first == "0"))
            return
        }
        let error = try #require(throws: ConfigurationError.self) {
            try Configuration.parse(Array(text.utf8))
        }
        #expect(error.problems.first?.text.contains(problem) == true, "\(error)")
        #expect(error.problems.first?.line == 2)
        #expect(!"\(error)".contains("0123456789"))
    }

    @Test func `a token and a token's file together are a mistake`() throws {
        let text = """
            upstream: {urls: ["http://127.0.0.1:9"]}
            admin: {token: 0123456789abcdef, token_file: token}
            """
        let error = try #require(throws: ConfigurationError.self) {
            try Configuration.parse(Array(text.utf8))
        }
        #expect(error.problems.map(\.text) == ["admin.token_file: token is given too: expected one of them"])
    }

    @Test(arguments: [
        ("0.0.0.0:9901", "", true), (":9901", "", true), ("[::]:9901", "", true),
        ("192.0.2.1:9901", "", true),
        ("node7.test:9901", "", true), ("0.0.0.0:9901", ", token: 0123456789abcdef", false),
        ("127.0.0.1:9902", "", false), ("127.1.2.3:9901", "", false), ("[::1]:9901", "", false),
        ("localhost:9901", "", false), ("unix:/run/dictum/admin.sock", "", false),
    ])
    func `an admin listener that other machines reach without a token is warned of`(
        address: String, more: String, isWarned: Bool
    ) throws {
        let text = """
            upstream: {urls: ["http://127.0.0.1:9"]}
            admin: {address: "\(address)"\(more)}
            """
        let warnings = try Configuration.parse(Array(text.utf8)).warnings
        #expect(warnings.contains { $0.text.contains("there is no token") } == isWarned, "\(warnings)")
    }
}
