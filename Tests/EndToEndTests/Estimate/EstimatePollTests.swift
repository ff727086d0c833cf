internal import Dictionaries
internal import Foundation
internal import Glibc
internal import Primitives
internal import TestSupport
internal import Testing

@testable internal import dictum

/// The polling of `dictum estimate`: its time, its signals, and what it keeps.
@Suite(.timeLimit(.minutes(40))) struct EstimatePollTests {
    /// Returns an origin whose feed changes with every second response.
    static func origin(cacheControl: String = "public, max-age=10") throws -> Origin {
        let count = Guarded(0)
        return try Origin { request, connection in
            guard request.target.hasPrefix("/feed") else {
                connection.send(wire("HTTP/1.1 404 Not Found", body: Array("no".utf8)))
                return
            }
            let number = count.withLock { count in
                defer { count += 1 }
                return count / 2
            }
            connection.send(
                wire(
                    "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: \(cacheControl)",
                    body: Feed.bytes(version: number, items: 40)))
        }
    }

    @Test func `a URL is polled, and its changes are counted`() throws {
        let origin = try Self.origin()
        let estimate = try Estimating.of("\(origin.url)/feed", "--every", "1s", "--for", "5s")
        let resource = try #require(estimate.resources.first)
        // Six rounds; the first one fetches twice.
        #expect(resource.responses == 7 && resource.versions == 4 && !resource.changesEachTime)
        // Of the other five rounds. The request that follows the first one at once is none.
        #expect(resource.unchangedShare == 0.4)
        #expect(resource.url == "\(origin.url)/feed" && resource.sentBytes == resource.bodyBytes)
        #expect(resource.browser?.keepsSeconds == 10)
        #expect(resource.findingNames == ["short-life"])
        #expect(estimate.suggestions.first?.origin == origin.url)
        let yaml = try #require(estimate.suggestions.first?.yaml)
        #expect(yaml.contains("  - match: \"/feed\"\n") && yaml.contains("  # - match: \"/\"\n"))
        try Estimating.check(yaml)
        // The suggestion stands where it is valid: its two lines are a route of their own.
        let announcing = yaml.replacing("  # - match:", with: "  - match:").replacing(
            "  #   ann", with: "    ann")
        #expect(announcing.contains("\n    announce: [\"/feed\"]\n"))
        try Estimating.check(announcing)
        let head = try #require(origin.heads.first)
        #expect(head.contains("Accept-Encoding: gzip, br, zstd\r\n") && head.contains("Sec-Fetch-Mode: cors"))
    }

    @Test func `a body that differs in two requests at once changes with every response`() throws {
        let count = Guarded(0)
        let origin = try Origin { _, connection in
            let number = count.withLock { count in
                defer { count += 1 }
                return count
            }
            connection.send(
                wire(
                    "HTTP/1.1 200 OK", "Content-Type: application/json",
                    body: Feed.bytes(version: number, items: 30)))
        }
        let resource = try Estimating.of("\(origin.url)/feed", "--every", "1s", "--for", "3s").resources[0]
        #expect(resource.changesEachTime && resource.periodSeconds == nil && resource.unchangedShare == 0)
        #expect(resource.findingNames.contains("changes-each-time"))
    }

    @Test func `SIGINT ends the polling early, and the report follows`() throws {
        let origin = try Self.origin()
        let process = try RunningProcess(
            ["estimate", "\(origin.url)/feed", "--every", "1s", "--for", "15m"] + Estimating.quick)
        defer { process.stop() }
        try waitUntil("five requests") { origin.heads.count >= 5 }
        process.signal(SIGINT)
        let result = try process.result()
        #expect(result.status == 0 && result.text.contains("\nroutes:\n"), "\(result.errors)\(result.text)")
    }

    @Test func `SIGINT does not wait for a response, nor for other URLs, and blames none`() throws {
        let feed = Feed.bytes(version: 1, items: 40)
        let origin = try Origin.closing { head in
            head.hasPrefix("GET /feed ") ? Wire.ok(body: feed) : nil
        }
        let folder = try TemporaryFolder()
        let paths = ["feed"] + (0..<20).map { "silent/\($0)" }
        try folder.write(Array(paths.map { "\(origin.url)/\($0)\n" }.joined().utf8), to: "urls.txt")
        let process = try RunningProcess(
            ["estimate", "urls.txt", "--every", "1s", "--for", "15m"] + Estimating.quick, in: folder.path)
        defer { process.stop() }
        try waitUntil("three requests") { origin.heads.count >= 3 }
        process.signal(SIGINT)
        let result = try process.result()
        #expect(result.status == 0 && result.text.hasPrefix("\(origin.url)/feed\n"), "\(result.text)")
        #expect(result.errors.isEmpty && origin.heads.count == 3, "\(result.errors)")
    }

    @Test func `SIGINT after the polling ends the program`() throws {
        let origin = try Self.origin()
        let process = try RunningProcess([
            "estimate", "\(origin.url)/feed", "--for", "0s", "--clients", "1000000", "--simulate", "7d",
        ])
        defer { process.stop() }
        try waitUntil("two requests") { origin.heads.count >= 2 }
        try waitUntil("the signal is let through") { try !process.blocks(SIGINT) }
        process.signal(SIGINT)
        #expect(try process.result().status == 128 + SIGINT)
    }

    @Test func `of two signals at once the first ends the polling, and the second the program`() throws {
        let origin = try Self.origin()
        let process = try RunningProcess(
            ["estimate", "\(origin.url)/feed", "--every", "15m", "--for", "15m"] + Estimating.quick)
        defer { process.stop() }
        try waitUntil("two requests") { origin.heads.count >= 2 }
        // It blocks both but while it waits for one of them.
        try waitUntil("the next round is waited for") { try !process.blocks(SIGINT) }
        process.signal(SIGINT)
        process.signal(SIGTERM)
        #expect(try process.result().status == 128 + SIGTERM)
    }

    @Test(arguments: ["estimate", "train"])
    func `SIGTERM while a file is read ends the program`(command: String) throws {
        let folder = try TemporaryFolder()
        let pipe = folder.file("session.har")
        try #require(RunningProcess.run([pipe], of: "/usr/bin/mkfifo").status == 0)
        let process = try RunningProcess([command, pipe])
        defer { process.stop() }
        // The pipe opens once the program reads it.
        let writer = try #require(FileHandle(forWritingAtPath: pipe))
        process.signal(SIGTERM)
        try writer.close()
        #expect(try process.result().status == 128 + SIGTERM)
    }

    @Test func `the polling ends at its time although responses are slow`() throws {
        let origin = try Origin { _, connection in
            Thread.sleep(forTimeInterval: 1.2)
            connection.send(wire("HTTP/1.1 200 OK", body: Array("[]".utf8)))
        }
        _ = try Estimating.of("\(origin.url)/feed", "--every", "1s", "--for", "2s")
        // The two at once of the first round take longer than all rounds may.
        #expect(origin.heads.count == 2)
    }

    @Test func `a URL that returns nothing is said after the first round`() throws {
        let origin = try Self.origin()
        let result = try RunningProcess.run([
            "estimate", "\(origin.url)/other", "--every", "1s", "--for", "30s",
        ])
        #expect(result.status == 1 && result.errors.contains("all responses were 404"), "\(result.errors)")
        #expect(origin.heads.count == 2)
    }

    @Test func `what has no place in memory is left out, and the rest is kept`() throws {
        let url = try FetchURL("http://a.test/")
        var collection = HistoryCollection()
        let body = Body([UInt8](repeating: 1, count: HistoryCollection.bodyBytesMax))
        for number in 0...16 {
            collection.add(.init(seconds: 0, body: body, headers: nil), to: "\(number)") {
                ResourceHistory(url: url, name: "\(number)")
            }
        }
        // An empty one would fit, but then the histories would have gaps.
        collection.add(.init(seconds: 1, body: Body([]), headers: nil), to: "0") {
            ResourceHistory(url: url, name: "0")
        }
        #expect(collection.histories.first?.responses.count == 1)
        #expect(collection.histories.count == 16 && collection.isFull)
        let isSaid = collection.warnings.first?.hasPrefix("left out everything after 1.0 GiB") == true
        #expect(collection.warnings.count == 1 && isSaid, "\(collection.warnings)")
    }

    @Test func `a list of URLs is polled, and a URL that fails is a warning`() throws {
        let origin = try Self.origin()
        let folder = try TemporaryFolder()
        let list = "# feeds\n\n\(origin.url)/feed\r\n\(origin.url)/other\r\n"
        try folder.write(Array(list.utf8), to: "urls.txt")
        let estimate = try Estimating.of("urls.txt", "--every", "1s", "--for", "3s", in: folder.path)
        #expect(estimate.resources.map(\.url) == ["\(origin.url)/feed"])
        #expect(estimate.warnings.contains { $0.contains("/other: a response had status 404") })
    }

    @Test func `a URL whose requests fail is a warning that counts them`() throws {
        let origin = try Self.origin()
        let folder = try TemporaryFolder()
        try folder.write(Array("\(origin.url)/feed\nhttp://127.0.0.1:1/gone\n".utf8), to: "urls.txt")
        let estimate = try Estimating.of("urls.txt", "--for", "0s", in: folder.path)
        try #require(estimate.warnings.count == 1, "\(estimate.warnings)")
        #expect(
            estimate.warnings[0].hasPrefix("http://127.0.0.1:1/gone: 2 requests failed: cannot connect: "),
            "\(estimate.warnings)")
    }

    @Test func `the user's fields are sent, and credentials make the responses of a URL personal`() throws {
        let origin = try Self.origin(cacheControl: "max-age=10")
        let estimate = try Estimating.of("\(origin.url)/feed", "--for", "0s", "--cookie", "sid=1")
        #expect(origin.heads.allSatisfy { field("Cookie", of: $0) == "sid=1" } && origin.heads.count == 2)
        #expect(estimate.resources.map(\.personal) == ["cookie"])
    }

    @Test func `a list may have http and https URLs, whose servers are verified with --ca`() throws {
        let origin = try Self.origin()
        let certificates = try TestCertificates()
        let proxy = try ServedProxy(origin, in: TemporaryFolder(), listener: certificates.settings())
        let folder = try TemporaryFolder()
        let urls = ["\(origin.url)/feed", "https://localhost:\(proxy.port)/feed"]
        try folder.write(Array(urls.joined(separator: "\n").utf8), to: "urls.txt")
        let estimate = try Estimating.of(
            "urls.txt", "--for", "0s", "--ca", certificates.file("ca.pem"), in: folder.path)
        #expect(estimate.resources.map(\.url) == urls)
        #expect(estimate.warnings.isEmpty, "\(estimate.warnings)")
    }

    @Test(arguments: [
        (401, "give the user's credentials with --cookie or -H"), (404, "give a URL that returns 200"),
    ])
    func `if no response is 200, the status is the error`(status: Int, remedy: String) throws {
        let origin = try Origin(wire("HTTP/1.1 \(status) No", body: []))
        let url = "http://127.0.0.1:\(origin.port)/feed"
        let result = try RunningProcess.run(["estimate", url, "--for", "0s"])
        #expect(result.status == 1, "\(result.text)")
        #expect(result.errors.contains("all responses were \(status): \(remedy)"), "\(result.errors)")
    }
}
