import Dictionaries
import Foundation
import Glibc
import HTTP
import Testing

@testable import Proxy

private func line(
    isJSON: Bool, _ configuration: Configuration = Configuration(),
    change: (inout RequestRecord) -> Void = { _ in }
) -> String {
    var record = RequestRecord()
    record.timeMicroseconds = 1_700_000_000_123_456
    record.client = Array("192.0.2.1".utf8)
    record.version = .http2
    record.method = Array("GET".utf8)
    record.target = Array("/api/feed".utf8)
    record.status = 200
    change(&record)
    var buffer: [UInt8] = []
    AccessLogFormat(isJSON: isJSON, configuration: configuration).append(record, to: &buffer)
    return String(decoding: buffer, as: UTF8.self)
}

private func full(_ record: inout RequestRecord) {
    record.bodyBytesBefore = 233_815
    record.bodyBytesSent = 525
    record.wireBytesSent = 900
    record.coding = .dcz
    record.reason = .delta
    record.routeIndex = 0
    record.durationMicroseconds = 71
    record.upstreamMicroseconds = 60
    record.upstreamStatus = 200
    record.upstream = LoggedUpstream("http://127.0.0.1:9000")
    record.requestID = Array("r-1".utf8)
}

@Suite struct AccessLogFormatTests {
    @Test func `a line of JSON has everything that is known`() {
        let head =
            #"{"time":"2023-11-14T22:13:20.123Z","client":"192.0.2.1","method":"GET","target":"/api/feed","#
        #expect(
            line(isJSON: true, change: full) == head
                + #""protocol":"HTTP/2.0","status":200,"coding":"dcz","reason":"delta","route":"/*","#
                + #""body_bytes":233815,"sent_body_bytes":525,"wire_bytes":900,"micros":71,"upstream_status":200,"#
                + #""upstream_micros":60,"upstream":"http://127.0.0.1:9000","request_id":"r-1","complete":true}"#
                + "\n")
        #expect(
            line(isJSON: true) { $0.isComplete = false } == head
                + #""protocol":"HTTP/2.0","status":200,"coding":"identity","body_bytes":0,"sent_body_bytes":0,"wire_bytes":0,"micros":0,"#
                + #""complete":false}"# + "\n")
    }

    @Test func `a line names the error for which there is no response of the upstream`() {
        let change = { (record: inout RequestRecord) in record.error = Array("connection \"refused\"".utf8) }
        #expect(
            line(isJSON: true, change: change).contains(
                #""error":"connection \u0022refused\u0022","complete":true"#))
        #expect(line(isJSON: false, change: change).contains(#" error="connection \u0022refused\u0022""#))
    }

    @Test func `a line of text has everything that is known`() {
        let head = "2023-11-14T22:13:20.123Z 192.0.2.1 GET /api/feed HTTP/2.0 200 "
        #expect(
            line(isJSON: false, change: full) == head
                + "dcz delta 233815->525 wire=900 71us upstream=200/60us /* r-1 to=\"http://127.0.0.1:9000\"\n"
        )
        #expect(
            line(isJSON: false) { $0.isComplete = false } == head + "identity - 0->0 wire=0 0us - aborted\n")
    }

    @Test func `a refused connection has no protocol`() {
        #expect(!line(isJSON: true) { $0.version = nil }.contains("protocol"))
        #expect(line(isJSON: false) { $0.version = nil }.contains(" /api/feed - 200 "))
    }

    @Test func `a client that a proxy named has that proxy beside it`() {
        let named: (inout RequestRecord) -> Void = { $0.forwarder = Array("10.0.0.1".utf8) }
        #expect(
            line(isJSON: true, change: named).contains(
                #""client":"192.0.2.1","forwarder":"10.0.0.1","method""#))
        #expect(line(isJSON: false, change: named).hasSuffix(" - via=10.0.0.1\n"))
    }

    @Test func `any byte of a target comes back from the JSON, and none breaks the line`() throws {
        let bytes = Array(UInt8.min...UInt8.max)
        let text = line(isJSON: true) { $0.target = bytes }
        #expect(text.utf8.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x0A })
        #expect(text.filter { $0 == "\n" }.count == 1)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        let target = try #require(object["target"] as? String)
        #expect(target.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } == bytes)
    }

    @Test func `no control byte, space or backslash of a target gets into the text`() {
        let text = line(isJSON: false) { $0.target = Array("/a b\r\n\u{1B}[2J\\\u{7F}\u{E9}".utf8) }
        #expect(text.contains(#" /a\x20b\x0d\x0a\x1b[2J\x5c\x7f\xc3\xa9 HTTP/2.0 200 "#))
        #expect(line(isJSON: false) { $0.target = [] }.contains(" GET - HTTP/2.0 200 "))
    }

    @Test(arguments: [
        ("/a?token=s3cret&b=1", "/a?token=-&b=1"),
        ("/a?b=1&TOKEN=s3cret", "/a?b=1&TOKEN=-"),
        ("/a?to%6ben=s3cret", "/a?to%6ben=-"),
        ("/a?token=s3;cret&b=1", "/a?token=-&b=1"),
        ("/a?b=1;token=s3;cret&c", "/a?b=1;token=-&c"),
        ("/a?token=s=3=cret", "/a?token=-"),
        ("/a?token&b", "/a?token&b"),
        ("/a?token=", "/a?token=-"),
        ("/a?tokens=1&b=token", "/a?tokens=1&b=token"),
        ("/a?sig=x&sig=y", "/a?sig=-&sig=-"),
        ("/token=s3cret", "/token=s3cret"),
        ("/a?b?token=1", "/a?b?token=-"),
        ("/a??token=1&key=2", "/a??token=-&key=-"),
    ])
    func `the values of personal query names are not logged`(target: String, logged: String) {
        #expect(
            line(isJSON: false) { $0.target = Array(target.utf8) }.contains(" GET \(logged) HTTP/2.0 200 "))
    }

    @Test func `which query names are personal is the configuration's`() {
        var configuration = Configuration()
        configuration.personalQuery = ["me"]
        let text = line(isJSON: false, configuration) { $0.target = Array("/a?me=1&token=2".utf8) }
        #expect(text.contains(" /a?me=-&token=2 "))
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
        (951_782_400_000_000, "2000-02-29T00:00:00.000Z"), (951_868_799_999_999, "2000-02-29T23:59:59.999Z"),
        (4_107_542_400_000_000, "2100-03-01T00:00:00.000Z"),
        (1_735_689_599_999_000, "2024-12-31T23:59:59.999Z"),
    ])
    func `a time is written in UTC`(microseconds: Int, text: String) {
        var buffer: [UInt8] = []
        Timestamp.append(microseconds, to: &buffer)
        #expect(String(decoding: buffer, as: UTF8.self) == text)
    }
}

@Suite struct LogSinkTests {
    /// A pipe; both ends are closed with the last reference.
    private final class Pipe {
        let reader: Int32
        let writer: Int32

        init() throws {
            var ends: [Int32] = [-1, -1]
            // Safe: pipe writes two descriptors, and the array has two.
            try #require(unsafe pipe(&ends) == 0)
            (reader, writer) = (ends[0], ends[1])
        }

        deinit {
            close(reader)
            close(writer)
        }

        func read(_ count: Int) -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: count)
            var filled = 0
            while filled < count {
                // Safe: at most the rest of the array is written, within the call.
                let got = unsafe bytes.withUnsafeMutableBytes {
                    unsafe Glibc.read(reader, $0.baseAddress?.advanced(by: filled), count - filled)
                }
                guard got > 0 else { break }
                filled += got
            }
            return Array(bytes.prefix(filled))
        }
    }

    private func log(_ sink: LogSink, share: Double = 1) -> AccessLog {
        AccessLog(
            format: AccessLogFormat(isJSON: false, configuration: Configuration()), share: share, sink: sink)
    }

    @Test func `lines reach the descriptor in order, in one batch`() throws {
        let pipe = try Pipe()
        let sink = LogSink(descriptor: pipe.writer)
        let log = log(sink)
        var expected: [UInt8] = []
        for status in 200...204 {
            var record = RequestRecord()
            record.status = status
            log.log(record)
            AccessLogFormat(isJSON: false, configuration: Configuration()).append(record, to: &expected)
        }
        #expect(!log.isEmpty)
        log.flush()
        #expect(log.isEmpty)
        #expect(pipe.read(expected.count) == expected)
        #expect(sink.drain(timeoutMilliseconds: 10_000))
        #expect(sink.linesDropped == 0)
    }

    @Test func `a reader that does not read costs lines, never memory or the loop`() throws {
        let pipe = try Pipe()
        let sink = LogSink(descriptor: pipe.writer, pendingBytesMax: 300_000)
        for _ in 1...3 { sink.submit(Array(repeating: UInt8(ascii: "x"), count: 100_000), lines: 10) }
        sink.submit([UInt8(ascii: "y")], lines: 5)
        #expect(sink.linesDropped == 5)
        #expect(sink.samples.map(\.value) == [5])
        #expect(pipe.read(300_000).count == 300_000)
        #expect(sink.drain(timeoutMilliseconds: 10_000))
        sink.submit([UInt8(ascii: "z")], lines: 1)
        #expect(pipe.read(1) == [UInt8(ascii: "z")])
    }

    @Test func `a full descriptor that does not block is waited for`() throws {
        let pipe = try Pipe()
        #expect(fcntl(pipe.writer, F_SETFL, O_NONBLOCK) == 0)
        let sink = LogSink(descriptor: pipe.writer)
        sink.submit(Array(repeating: 1, count: 1_000_000), lines: 1)
        #expect(pipe.read(1_000_000).count == 1_000_000)
        #expect(sink.linesDropped == 0)
    }

    @Test func `lines for a descriptor that takes none are counted as lost`() throws {
        let pipe = try Pipe()
        let sink = LogSink(descriptor: pipe.reader)
        sink.submit([1], lines: 3)
        #expect(sink.drain(timeoutMilliseconds: 10_000))
        #expect(sink.linesDropped == 3)
    }

    @Test(arguments: [(1.0, 1_000), (0.25, 250), (0.01, 10), (0.0, 0)])
    func `a share of the requests is logged`(share: Double, lines: Int) throws {
        let pipe = try Pipe()
        let sink = LogSink(descriptor: pipe.writer, pendingBytesMax: 1 << 20)
        let log = log(sink, share: share)
        for _ in 1...1_000 { log.log(RequestRecord()) }
        log.flush()
        var line: [UInt8] = []
        AccessLogFormat(isJSON: false, configuration: Configuration()).append(RequestRecord(), to: &line)
        sink.submit([0], lines: 1)
        var count = 0
        while true {
            let byte = pipe.read(1)
            guard byte != [0] else { break }
            if byte == [0x0A] { count += 1 }
        }
        #expect(abs(count - lines) <= 1)
    }
}
