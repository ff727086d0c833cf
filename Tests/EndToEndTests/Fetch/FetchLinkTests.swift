internal import Dictionaries
internal import Dispatch
internal import Foundation
internal import TestSupport
internal import Testing

/// `Link; rel="compression-dictionary"` (RFC 9842 section 3).
@Suite struct FetchLinkTests {
    @Test(.timeLimit(.minutes(40)))
    func `a linked dictionary is fetched after the answer, kept, and not fetched again`() throws {
        let origin = try Origin.closing { head in
            if head.hasPrefix("GET /dictionaries/one ") {
                return Wire.ok(
                    #"Use-As-Dictionary: match="/page*""#, "Cache-Control: max-age=60", body: feed(1))
            }
            let link = #"Link: <dictionaries/one>; rel="compression-dictionary", </style.css>; rel=preload"#
            return Wire.ok(link, "Cache-Control: no-store", body: feed(2))
        }
        defer { origin.stop() }
        let fetching = try Fetching()
        let first = try fetching.fetch("\(origin.url)/page1")
        #expect(first.body == feed(2) && first.report.stored)
        _ = try fetching.fetch("\(origin.url)/page2")
        let paths = origin.heads.map { $0.components(separatedBy: "\r\n")[0] }
        #expect(paths == ["GET /page1 HTTP/1.1", "GET /dictionaries/one HTTP/1.1", "GET /page2 HTTP/1.1"])
        #expect(field("Available-Dictionary", of: origin.heads.last) == available(feed(1)))
    }

    @Test(.timeLimit(.minutes(40)))
    func `the body does not wait for a linked dictionary`() throws {
        let isRead = DispatchSemaphore(value: 0)
        let origin = try Origin.closing { head in
            guard head.hasPrefix("GET /d ") else {
                return Wire.ok(#"Link: </d>; rel="compression-dictionary""#, body: feed(2))
            }
            // The program has nothing to wait for but this.
            _ = isRead.wait(timeout: .now() + 300)
            return Wire.ok(#"Use-As-Dictionary: match="/page""#, "Cache-Control: max-age=60", body: feed(1))
        }
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let fetch = try RunningProcess(["fetch", "--cache", folder.file("cache"), "\(origin.url)/page"])
        defer { fetch.stop() }
        _ = try fetch.waitFor(String(decoding: feed(2), as: UTF8.self))
        isRead.signal()
        let result = try fetch.result()
        #expect(result.status == 0 && result.output == feed(2))
        #expect(
            result.errorLines.count == 1 && result.errors.contains("kept as a dictionary"), "\(result.errors)"
        )
    }

    @Test(.timeLimit(.minutes(40)))
    func `a linked dictionary that does not come costs seconds, and a warning`() throws {
        let origin = try Origin.closing { head in
            head.hasPrefix("GET /d ")
                ? nil : Wire.ok(#"Link: </d>; rel="compression-dictionary""#, body: feed(2))
        }
        defer { origin.stop() }
        let result = try Fetching().run("\(origin.url)/page", "--max-time", "600")
        #expect(result.status == 0 && result.output == feed(2))
        #expect(result.errors.contains("/d: no complete response in time\n"), "\(result.errors)")
    }

    @Test(.timeLimit(.minutes(40)))
    func `a link to another origin is not followed`() throws {
        let other = try Origin.closing { _ in Wire.ok(body: feed(1)) }
        let target = other.url
        let origin = try Origin.closing { _ in
            Wire.ok("Link: <\(target)/d>; rel=\"compression-dictionary\"", body: feed(2))
        }
        defer {
            origin.stop()
            other.stop()
        }
        #expect(try Fetching().fetch("\(origin.url)/page").body == feed(2))
        #expect(other.heads.isEmpty && origin.heads.count == 1)
    }

    @Test(.timeLimit(.minutes(40)))
    func `a linked dictionary that fails is a warning, and the body stands`() throws {
        let origin = try Origin.closing { head in
            guard head.hasPrefix("GET /page ") else { return Wire.ok("Content-Encoding: lzma", body: [1]) }
            return Wire.ok(#"Link: </d>; rel="compression-dictionary""#, body: feed(2))
        }
        defer { origin.stop() }
        let result = try Fetching().run("\(origin.url)/page")
        #expect(result.status == 0 && result.output == feed(2))
        #expect(result.errors.contains("/d: the response has Content-Encoding: lzma"))
    }

    @Test(.timeLimit(.minutes(40)))
    func `at most four linked dictionaries of a response are fetched`() throws {
        let links = (1...6).map { "</d\($0)>; rel=\"compression-dictionary\"" }.joined(separator: ", ")
        let origin = try Origin.closing { head in
            guard head.hasPrefix("GET /page ") else {
                return Wire.ok(
                    #"Use-As-Dictionary: match="/page*""#, "Cache-Control: max-age=60", body: feed(1))
            }
            return Wire.ok("Link: \(links)", body: feed(2))
        }
        defer { origin.stop() }
        #expect(try Fetching().fetch("\(origin.url)/page").body == feed(2))
        let paths = origin.heads.dropFirst().map { $0.components(separatedBy: " ")[1] }
        #expect(paths == ["/d1", "/d2", "/d3", "/d4"])
    }

    @Test(.timeLimit(.minutes(40)))
    func `a linked dictionary that comes as an undecodable delta is asked for once more`() throws {
        let life = "Cache-Control: max-age=60"
        let origin = try Origin.closing { head in
            if head.hasPrefix("GET /page ") {
                return Wire.ok(
                    #"Link: </d>; rel="compression-dictionary""#, #"Use-As-Dictionary: match="/*""#, life,
                    body: feed(1))
            }
            return field("Available-Dictionary", of: head) == available(feed(1))
                ? Wire.ok("Content-Encoding: dcz", body: coded(feed(2), .dcz, over: feed(3)))
                : Wire.ok(#"Use-As-Dictionary: match="/d*""#, life, body: feed(2))
        }
        defer { origin.stop() }
        let fetching = try Fetching()
        let result = try fetching.run("\(origin.url)/page")
        #expect(result.status == 0 && result.output == feed(1))
        #expect(result.errors.contains("the request is sent once more without one"), "\(result.errors)")
        #expect(origin.heads.map { field("Available-Dictionary", of: $0) } == [nil, available(feed(1)), nil])
        // Of the page's there is nothing left.
        #expect(fetching.kept.count == 2)
        _ = try fetching.fetch("\(origin.url)/d")
        #expect(field("Available-Dictionary", of: origin.heads.last) == available(feed(2)))
    }
}
