internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import dictum

/// What `dictum fetch` sends, beside what the real curl sends for the same arguments.
@Suite(.timeLimit(.minutes(40))) struct FetchLikeCurlTests {
    /// The parts of a request that -X, -d and -L decide.
    private struct Sent: Equatable {
        let startLine: String
        let type: String?
        let length: String?
        let body: String

        init(_ request: WireMessage) {
            (startLine, type, body) = (request.startLine, request["Content-Type"], request.text)
            // RFC 9110 section 8.6 wants a length of 0 that curl leaves out.
            length = request["Content-Length"] ?? (["POST", "PUT"].contains(request.method) ? "0" : nil)
        }
    }

    /// An origin at which `/302/303/to` redirects with 302 to `/303/to`, that with 303 to `/to`, and `/302/loop` to itself.
    private static func redirecting() throws -> Origin {
        try Origin.closing { head in
            let parts = head.split(separator: " ")[1].split(separator: "/")
            guard parts.count > 1 else { return Wire.ok(body: feed(1)) }
            let next = parts[1] == "loop" ? "302/loop" : parts.dropFirst().joined(separator: "/")
            return Wire.answer("\(parts[0]) Moved", ["Location: /\(next)"])
        }
    }

    private static let contents = [
        [], ["-X", "POST"], ["-XDELETE"], ["-d", "a=1"], ["-da=1"], ["-d", "-1"], ["-d", ""],
        ["-X", "GET", "-d", ""],
        ["-XPOST", "-da=1"], ["-X", "PUT", "-d", "a=1", "-d", "b"], ["-X", "GET", "-d", "a=1"],
        ["-d=", "-d-da=1"], ["-d", "-XPUT"],
    ]

    @Test(arguments: [
        (["-XPOST", "-da=1", "-HA: b=c"], ["-X", "POST", "-d", "a=1", "-H", "A: b=c"]),
        (["-d=a", "--data", "-dx", "-d", "-XPUT"], ["-d", "=a", "--data", "-dx", "-d", "-XPUT"]),
        (["-d", "--", "-XPUT", "--", "-XPUT"], ["-d", "--", "-X", "PUT", "--", "-XPUT"]),
        (["--data", "-d", "-L", "-k", "-d"], ["--data", "-d", "-L", "-k", "-d"]),
    ])
    func `a value may be joined to its option`(words: [String], apart: [String]) {
        #expect(JoinedOptions.split(words) == apart)
    }

    @Test(arguments: contents, ["/to", "/301/to", "/302/307/to", "/303/to", "/307/303/to", "/308/to"])
    func `method and content are those of curl, through redirects too`(content: [String], path: String) throws
    {
        let origin = try Self.redirecting()
        defer { origin.stop() }
        let arguments = content + ["-L", origin.url + path]
        let curl = try RunningProcess.run(["curl", "-s", "--noproxy", "*"] + arguments, of: "/usr/bin/env")
        let expected = origin.requests.map(Sent.init)
        let fetch = try Fetching().run(arguments)
        let sent = Array(origin.requests.map(Sent.init).dropFirst(expected.count))
        #expect(curl.status == 0 && fetch.status == 0 && curl.output == fetch.output)
        #expect(sent == expected)
    }

    @Test(arguments: ["", "a=1\r\nb\n", "\n"])
    func `a file is sent without its line breaks, an empty one too`(text: String) throws {
        let origin = try Self.redirecting()
        defer { origin.stop() }
        let fetching = try Fetching()
        try fetching.folder.write(Array(text.utf8), to: "data")
        let arguments = ["-d", "@\(fetching.folder.path)/data", "\(origin.url)/to"]
        let curl = try RunningProcess.run(["curl", "-s", "--noproxy", "*"] + arguments, of: "/usr/bin/env")
        #expect(try curl.status == 0 && fetching.run(arguments).status == 0)
        let sent = origin.requests.map(Sent.init)
        #expect(sent.count == 2 && sent.first == sent.last)
    }

    @Test(arguments: ["/to?to=http://b/", "/to/http://b/to"])
    func `a URL without a scheme may have another URL in its path or query`(target: String) throws {
        let origin = try Origin.closing { _ in Wire.ok(body: feed(1)) }
        defer { origin.stop() }
        let url = "127.0.0.1:\(origin.port)\(target)"
        let curl = try RunningProcess.run(["curl", "-s", "--noproxy", "*", url], of: "/usr/bin/env")
        let fetch = try Fetching().run(url)
        #expect(curl.status == 0 && fetch.status == 0, "\(fetch.errors)")
        #expect(origin.requests.map(\.startLine) == Array(repeating: "GET \(target) HTTP/1.1", count: 2))
    }

    @Test func `as many redirects are followed`() throws {
        let origin = try Self.redirecting()
        defer { origin.stop() }
        let url = "\(origin.url)/302/loop"
        let curl = try RunningProcess.run(["curl", "-s", "-L", "--noproxy", "*", url], of: "/usr/bin/env")
        let count = origin.requests.count
        let fetch = try Fetching().run("-L", url)
        #expect(curl.status == 47 && fetch.status == 1 && origin.requests.count == 2 * count)
        #expect(fetch.errors == "dictum: more than 50 redirects; the last one led to \(url)\n")
    }
}
