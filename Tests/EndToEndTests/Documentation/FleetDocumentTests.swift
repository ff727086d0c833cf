internal import Foundation
internal import TestSupport
internal import Testing

/// What deploy/FLEET.md tells operators to copy.
@Suite(.timeLimit(.minutes(40)))
struct FleetDocumentTests {
    @Test func `HAProxy and nginx accept the recipes for affinity`() throws {
        let folder = try TemporaryFolder()
        let haproxy = try Documentation.blocks("haproxy", of: "deploy/FLEET.md", under: "## Client affinity")
        let rest = """
            defaults
                mode http
                timeout connect 1s
                timeout client 1s
                timeout server 1s
            frontend clients
                bind unix@\(folder.path)/socket
                default_backend dictum

            """
        try folder.write(Array((rest + haproxy[0]).utf8), to: "haproxy.cfg")
        if let program = try Front.haproxy.program() {
            let result = try RunningProcess.run(["-c", "-f", "\(folder.path)/haproxy.cfg"], of: program)
            #expect(result.status == 0, "\(result.errors)")
        }
        let nginx = try Documentation.blocks("nginx", of: "deploy/FLEET.md", under: "## Client affinity")
        try folder.write(
            Array("pid \(folder.path)/pid; events {} http { access_log off; \(nginx[0]) }".utf8),
            to: "nginx.conf")
        if let program = try Front.nginx.program() {
            let result = try RunningProcess.run(
                [
                    "-t", "-p", folder.path, "-e", "\(folder.path)/errors.log", "-c",
                    "\(folder.path)/nginx.conf",
                ],
                of: program)
            #expect(result.status == 0, "\(result.errors)")
        }
    }

    @Test(.enabled(if: RedisServer.program != nil, Comment(rawValue: RedisServer.absence)))
    func `the settings of FLEET.md leave the doctor nothing to say`() throws {
        let text = try Documentation.blocks("conf", of: "deploy/FLEET.md", under: "## The server")[0]
        let folder = try TemporaryFolder()
        try folder.write(Array(text.utf8), to: "redis.conf")
        let server = try RedisServer(["--include", "\(folder.path)/redis.conf"])
        let result = try RunningProcess.run(["doctor", "unix://\(server.socket)", "--fail"])
        #expect(result.status == 0, "\(result.text) \(result.errors)")
        #expect(result.text.contains("good: the server is "))
        #expect(result.text.contains("proxies can share dictionaries there"))
    }

    @Test(.enabled(if: RedisServer.program != nil, Comment(rawValue: RedisServer.absence)))
    func `doctor and check name what is wrong, and no password`() throws {
        let server = try RedisServer(["--requirepass", "s3cret", "--maxmemory-policy", "noeviction"])
        let url = "unix://:wr0ng@\(server.socket)"
        let doctor = try RunningProcess.run(["doctor", url, "--json"])
        #expect(doctor.status == 1)
        #expect(doctor.text.contains("refuses the user or the password"))
        let folder = try TemporaryFolder()
        try folder.write(Array("s3cret\n".utf8), to: "password")
        let text = """
            upstream: {urls: ["http://127.0.0.1:9"]}
            store:
              path: ":memory:"
              shared: {url: "\(url)", password_file: \(folder.path)/password}
            """
        try folder.write(Array(text.utf8), to: "dictum.yaml")
        let check = try RunningProcess.run(["check", "--config", "\(folder.path)/dictum.yaml"])
        #expect(check.status == 0)
        #expect(check.errors.contains("warning: store.shared: maxmemory is not set"))
        #expect(check.errors.contains("noeviction"))
        try folder.write(Array("\n".utf8), to: "password")
        let empty = try RunningProcess.run(["check", "--config", "\(folder.path)/dictum.yaml"])
        #expect(empty.errors.contains("has no text in its first line"))
        for result in [doctor, check, empty] {
            #expect(!(result.text + result.errors).contains("s3cret"))
            #expect(!(result.text + result.errors).contains("wr0ng"))
        }
    }

    @Test func `other URLs of servers are refused with words`() throws {
        let result = try RunningProcess.run(["doctor", "redis+sentinel://127.0.0.1:26379/main"])
        #expect(result.status == 64 && result.errors.contains("Sentinel is not supported"))
    }
}
