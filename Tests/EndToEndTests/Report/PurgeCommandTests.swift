internal import Foundation
internal import Primitives
internal import TestSupport
internal import Testing

/// `dictum purge` on a running proxy.
@Suite(.timeLimit(.minutes(40))) struct PurgeCommandTests {
    @Test func `a running proxy forgets what the command names, and says how much`() throws {
        let folder = try TemporaryFolder()
        let (first, second) = (Feed.bytes(version: 0, items: 40), Feed.bytes(version: 1, items: 40))
        let seen = Guarded<Set<String>>([])
        let origin = try Origin { request, connection in
            connection.send(
                wire(
                    "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: public",
                    body: seen.withLock { $0.insert(request.target).inserted } ? first : second))
        }
        let proxy = try ServedProxy(origin, in: folder)
        try folder.write(first, to: "dictionary")
        func purge(_ arguments: String...) throws -> ProcessResult {
            try RunningProcess.run(["purge", "--config", "\(folder.path)/dictum.yaml"] + arguments)
        }
        for path in ["/feed", "/other", "/%C3%A9"] { _ = try proxy.curl(path, "-H", "Accept-Encoding: gzip") }
        #expect(
            try purge("--path", "/feed", "--dry-run").text.hasPrefix(
                "1 version would be removed on this node, "))
        let result = try purge("--path", "/feed", "--json")
        #expect(result.status == 0 && result.text.contains(#""removed_versions""#), "\(result.errors)")
        for (path, coding) in [("/feed", "gzip"), ("/other", "dcz")] {
            let answer = try proxy.curl(path, "dcz, gzip", over: "dictionary")
            #expect(answer.head["Content-Encoding"] == coding, "\(path)")
        }
        #expect(
            try purge("--route", "/nothing").errors.hasSuffix(
                " responds 400 Bad Request: There is no route /nothing; /routes lists all.\n"))
        let socket = "unix:\(folder.path)/admin\(origin.port).sock"
        let asked = try RunningProcess.run(["purge", "--admin", socket, "--path", "/feed", "--dry-run"])
        #expect(asked.status == 0, "an address as the configuration has it: \(asked.errors)")
        let beyond = try purge("--path", "/é", "--dry-run")
        #expect(
            beyond.text.hasPrefix("1 version would be removed"),
            "a character beyond ASCII is found as clients send it: \(beyond.errors)")
        #expect(try purge().status == 64)
        #expect(try purge("--user", "cookie:a=b").errors.contains("--user needs --host"))
    }

    @Test func `how many of the versions are personal is said, and of none it is not`() throws {
        let folder = try TemporaryFolder()
        let body = Feed.bytes(version: 0, items: 40)
        let origin = try Origin { request, connection in
            let scope = request.target.hasPrefix("/account") ? "private" : "public"
            connection.send(
                wire(
                    "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: \(scope)", body: body
                ))
        }
        let routes = """
            routes:
            - {match: "/account/*", dictionary: {scope: private, identity: "cookie:session"}}
            - {match: "/*"}
            """
        let proxy = try ServedProxy(origin, in: folder, routes)
        func dryRun(_ path: String) throws -> String {
            try RunningProcess.run([
                "purge", "--config", "\(folder.path)/dictum.yaml", "--path", path, "--dry-run",
            ]).text
        }
        for path in ["/account/inbox", "/feed"] {
            _ = try proxy.curl(path, "-H", "Accept-Encoding: gzip", "-H", "Cookie: session=ann")
        }
        #expect(try dryRun("/account/inbox").hasSuffix("; 1 of them personal\n"))
        #expect(try !dryRun("/feed").contains("personal"))
    }
}
