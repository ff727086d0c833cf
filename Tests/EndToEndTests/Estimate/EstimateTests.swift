internal import Dictionaries
internal import Foundation
internal import Storage
internal import TestSupport
internal import Testing

@testable internal import dictum

/// `dictum estimate` on histories: its figures against those of a deployment, and its report.
@Suite(.timeLimit(.minutes(40))) struct EstimateTests {
    @Test(arguments: [40, 300])
    func `the promised bytes per delta are within 5 % of those that serve sends`(items: Int) throws {
        let folder = try TemporaryFolder()
        let versions = try Estimating.write(8, items: items, to: folder)
        let resource = try #require(try Estimating.of(folder.path).resources.first)
        #expect(resource.versions == 8 && resource.url == nil)
        #expect(resource.bodyBytes == versions.reduce(0) { $0 + $1.count } / 8)
        #expect(resource.deltas.map(\.versionsBack) == [1, 3] && resource.deltas.map(\.pairs) == [7, 5])
        let origin = try Origin { request, connection in
            let number = request.target.split(separator: "=").last.flatMap { Int($0) } ?? 0
            connection.send(
                wire(
                    "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: public, max-age=60",
                    body: versions[number]))
        }
        let served = try TemporaryFolder()
        let proxy = try ServedProxy(origin, in: served)
        for version in versions.indices {
            #expect(try proxy.curl("/feed?v=\(version)").carries(versions[version]))
        }
        for deltas in resource.deltas {
            for (coding, cost) in [("dcz", deltas.dcz), ("dcb", deltas.dcb)] {
                var sum = 0
                for number in deltas.versionsBack..<8 {
                    try served.write(versions[number - deltas.versionsBack], to: "old")
                    let response = try proxy.curl("/feed?v=\(number)", coding, over: "old")
                    #expect(response.head["Content-Encoding"] == coding)
                    sum += response.body.count
                }
                let sent = Double(sum) / Double(8 - deltas.versionsBack)
                for promised in [cost.bytes, cost.firstBytes] {
                    #expect(
                        abs(Double(promised) - sent) <= sent * 0.05,
                        "\(coding), \(deltas.versionsBack) back: \(promised) promised, \(sent) sent")
                }
            }
        }
    }

    @Test(arguments: [2, 3])
    func `the bytes per delta are the average over all pairs, and there may be one`(count: Int) throws {
        let measurement = CodingMeasurement(sizes: CodedSizes(preparedBytes: 0, verify: .never))
        let versions = [1, 2, 9].prefix(count).map { Body(Feed.bytes(version: $0, items: 100)) }
        let deltas = try #require(measurement.deltas(versions, versionsBack: 1))
        #expect(deltas.pairs == count - 1)
        for (coding, cost) in [(ContentCoding.dcz, deltas.dcz), (.dcb, deltas.dcb)] {
            let sum = zip(versions, versions.dropFirst()).reduce(0) { total, pair in
                total + measurement.sizes.delta(pair.1, over: pair.0, coding)
            }
            let average = sum / (count - 1)
            #expect(cost.bytes == average && cost.firstBytes == average, "\(coding)")
        }
    }

    @Test func `the bytes without a dictionary are those of the coders at the settings of serve`() throws {
        let folder = try TemporaryFolder()
        let body = Feed.bytes(version: 1, items: 100)
        try folder.write(body, to: "1.json")
        let resource = try #require(try Estimating.of(folder.path).resources.first)
        for (coding, cost) in [
            (ContentCoding.gzip, resource.plain.gzip), (.br, resource.plain.br), (.zstd, resource.plain.zstd),
        ] {
            #expect(cost.bytes == (try Codec.encode(body.span, coding).count))
            #expect(cost.cpuMicroseconds > 0)
        }
        #expect(resource.deltas.isEmpty && resource.clients == nil)
    }

    @Test func `each folder in a folder is one resource, and files beside them do not count`() throws {
        let folder = try TemporaryFolder()
        for name in ["one", "two"] {
            try FileManager.default.createDirectory(
                atPath: "\(folder.path)/\(name)", withIntermediateDirectories: true)
            for number in 1...3 {
                try folder.write(Feed.bytes(version: number, items: 30), to: "\(name)/\(number).json")
            }
        }
        try folder.write(Array("About this data".utf8), to: "README.md")
        let estimate = try Estimating.of(folder.path)
        #expect(estimate.resources.map(\.name) == ["one", "two"])
        #expect(estimate.suggestions.first?.routes.map(\.match) == ["/one", "/two"])
    }

    @Test func `the HTML report is one file without scripts and outside parts, and escapes what it quotes`()
        throws
    {
        let folder = try TemporaryFolder()
        let entries = (0..<4).map { number in
            ArchiveEntry(
                url: "https://api.test/feed?q='a'&b", second: number * 60,
                body: Feed.bytes(version: number, items: 40))
        }
        try ArchiveEntry.write(entries, to: folder)
        let name = "<script>&\""
        try FileManager.default.createDirectory(
            atPath: "\(folder.path)/all/\(name)", withIntermediateDirectories: true)
        for number in 0..<2 {
            try folder.write(Feed.bytes(version: number, items: 20), to: "all/\(name)/\(number)")
        }
        let result = try RunningProcess.run(
            ["estimate", "session.har", "all", "--html", "report.html"] + Estimating.quick, in: folder.path)
        #expect(result.status == 0, "\(result.errors)")
        let page = String(decoding: try #require(folder.read("report.html")), as: UTF8.self)
        for outside in ["<script", "src=", "href=", "url(", "@import", "javascript:"] {
            #expect(!page.contains(outside), "\(outside)")
        }
        #expect(page.contains("&lt;script&gt;&amp;&quot;") && page.contains("q='a'&amp;b"))
        #expect(page.contains("prefers-color-scheme: dark"))
        #expect(page.components(separatedBy: "<svg").count == page.components(separatedBy: "</svg>").count)
        // Python's parser must find every element closed.
        let script = """
            import html.parser, sys
            void = {'meta', 'rect', 'line', 'polyline'}
            class Parser(html.parser.HTMLParser):
                open = []
                def handle_starttag(self, tag, attributes):
                    if tag not in void: self.open.append(tag)
                def handle_startendtag(self, tag, attributes): pass
                def handle_endtag(self, tag): assert self.open.pop() == tag, tag
            parser = Parser()
            parser.feed(open('report.html').read())
            assert not parser.open, parser.open
            """
        let parsed = try RunningProcess.run(["-c", script], of: "/usr/bin/python3", in: folder.path)
        #expect(parsed.status == 0, "\(parsed.errors)")
    }

    @Test func `the text has a table per resource and routes to paste`() throws {
        let folder = try TemporaryFolder()
        _ = try Estimating.write(5, items: 60, to: folder)
        let result = try RunningProcess.run(["estimate", folder.path] + Estimating.quick)
        #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
        #expect(result.text.contains("coding  dictionary          bytes"))
        #expect(result.text.contains("dcz     the version before"))
        #expect(result.text.contains("\nroutes:\n"))
        // No progress bar, because standard error is no terminal here.
        #expect(!result.text.contains("\u{1B}"))
        let yaml = try #require(result.text.range(of: "routes:\n  ")).lowerBound
        try Estimating.check(String(result.text[yaml...]))
    }

    // MARK: The model

    @Test func `the size of a delta lies between those of the measured ages`() throws {
        func cost(_ bytes: Int) -> DeltaCost {
            DeltaCost(
                bytes: bytes, firstBytes: 2 * bytes, firstCpuMicroseconds: 1, indexedCpuMicroseconds: 1,
                strongestBytes: bytes / 2)
        }
        let deltas = [(1, 100), (3, 300), (10, 1000)].map { back, bytes in
            DeltaCosts(versionsBack: back, pairs: 1, plainBytes: 1200, dcz: cost(bytes), dcb: cost(bytes))
        }
        let sizes = try #require(
            MeasuredSizes(deltas, plainBytes: 1200, sameBytes: 60, secondsPerVersion: 10))
        for (age, bytes) in [(0, 60), (1, 100), (10, 100), (20, 200), (30, 300), (100, 1000), (10_000, 1200)]
        {
            #expect(sizes.deltaBytes(from: 0, to: age, .indexed) == bytes, "\(age) s")
        }
        #expect(sizes.deltaBytes(from: 0, to: 10, .first) == 200)
        #expect(sizes.deltaBytes(from: 0, to: 30, .strongest) == 150)
        #expect(
            MeasuredSizes([], plainBytes: 1, sameBytes: 1, secondsPerVersion: 1) == nil)
    }

    @Test func `the size of a delta has a bound after a change that the measured ages hardly have`() throws {
        let deltas = [(1, 152), (3, 152), (10, 63_233)].map { back, bytes in
            let cost = DeltaCost(
                bytes: bytes, firstBytes: bytes, firstCpuMicroseconds: 1, indexedCpuMicroseconds: 1,
                strongestBytes: nil)
            return DeltaCosts(versionsBack: back, pairs: 16, plainBytes: 300_000, dcz: cost, dcb: cost)
        }
        let sizes = try #require(
            MeasuredSizes(
                deltas, plainBytes: 300_000, sameBytes: 60, secondsPerVersion: 1))
        for age in [3_600, 86_400, 1 << 60] {
            #expect(sizes.deltaBytes(from: 0, to: age, .indexed) == 300_000, "\(age) s")
        }
    }

    @Test func `numbers beyond all integers become large ones`() {
        let most = 1_000_000_000_000_000_000
        let numbers = [.infinity, -.infinity, .nan, 1e300, 2.5, -2.4]
        #expect(numbers.map(Int.init(bounding:)) == [most, -most, 0, most, 3, -2])
        #expect(EstimateText.duration(1e300) == "11574074074074 days")
    }

    @Test func `clients that return later than their dictionary lives hold none`() throws {
        let folder = try TemporaryFolder()
        let entries = (0..<6).map { number in
            ArchiveEntry(
                second: number * 30, fields: ["Cache-Control": "max-age=20"],
                body: Feed.bytes(version: number, items: 40))
        }
        try ArchiveEntry.write(entries, to: folder)
        let file = "\(folder.path)/session.har"
        let seldom = try Estimating.of(file, "--returns", "1h:100%", "--simulate", "1d").resources[0].clients
        let often = try Estimating.of(file, "--returns", "5s:100%", "--simulate", "10m").resources[0].clients
        #expect(try #require(seldom?.asIs).holderShare < 0.05 && seldom?.asIs?.lifeSeconds == 20)
        #expect(try #require(seldom?.day).holderShare > 0.9)
        // Intervals are exponential: 1 - exp(-20/5) of them are shorter than the life.
        #expect(abs(try #require(often?.asIs).holderShare - 0.98) < 0.03)
        let day = try #require(seldom?.day)
        #expect(day.bytesPerDay < day.plainBytesPerDay)
    }

    @Test(arguments: [
        "", "apps,", "10s:50%", "10s:50%,1m:51%", "10s:0%,1m:100%", "0s:100%", "10:100%", "10s:100", "x:100%",
    ])
    func `a mix of clients that is not whole is refused`(text: String) {
        #expect(ClientMix(argument: text) == nil)
    }

    @Test func `a mix has up to twenty groups of clients`() {
        func mix(_ shares: [Int]) -> ClientMix? {
            ClientMix(argument: shares.map { "1m:\($0)%" }.joined(separator: ","))
        }
        #expect(mix(Array(repeating: 5, count: 20))?.groups.count == 20)
        #expect(mix(Array(repeating: 4, count: 19) + [12, 12]) == nil)
    }

    @Test func `a mix of clients gives the rate of requests`() throws {
        let mix = try #require(ClientMix(argument: "10s:20%,1m:80%"))
        #expect(abs(mix.requestsPerSecond(of: 100) - (2 + 80.0 / 60)) < 1e-9)
    }
}
