import Dictionaries
import Foundation
import Glibc
import Primitives
import Storage
import Testing

@testable import Proxy

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

        /// True if bytes are there at once.
        var isReadable: Bool {
            var entry = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
            // Safe: one entry, used within the call.
            return unsafe poll(&entry, 1, 0) == 1
        }

        func readSome() -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: 64 * 1024)
            // Safe: the kernel writes at most as much as the array holds.
            let count = unsafe Glibc.read(reader, &bytes, bytes.count)
            return Array(bytes.prefix(max(0, count)))
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

    private static let format = AccessLogFormat(
        .text, configuration: Configuration(), routes: RouteNames(Configuration()))

    private func log(_ sink: LogSink, share: Double = 1) -> AccessLog {
        AccessLog(format: Self.format, share: share, sink: sink)
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
            Self.format.append(record, to: &expected)
        }
        #expect(!log.isEmpty)
        log.flush()
        #expect(log.isEmpty)
        #expect(pipe.read(expected.count) == expected)
        #expect(sink.drain(timeoutMilliseconds: 60_000))
        #expect(sink.linesDropped == 0)
    }

    @Test func `a reader that does not read costs lines, never memory or the loop`() throws {
        let pipe = try Pipe()
        let sink = LogSink(descriptor: pipe.writer, pendingBytesMax: 300_000)
        for _ in 1...3 { sink.submit(Array(repeating: UInt8(ascii: "x"), count: 100_000), lines: 10) }
        sink.submit(Array(repeating: UInt8(ascii: "y"), count: 200_000), lines: 5)
        #expect(sink.linesDropped == 5)
        let lost = sink.samples.filter { $0.metric.name == "dictum_log_lines_dropped_total" }
        #expect(lost.map(\.labels) == [["slow"], ["refused"]] && lost.map(\.value) == [5, 0])
        #expect(pipe.read(300_000).count == 300_000)
        #expect(sink.drain(timeoutMilliseconds: 60_000))
        sink.submit(Array(repeating: UInt8(ascii: "z"), count: 300_000), lines: 1)
        try #require(sink.linesDropped == 5, "what was dropped takes no room")
        #expect(pipe.read(300_000).last == UInt8(ascii: "z"))
    }

    @Test func `a full descriptor that does not block is waited for`() throws {
        let pipe = try Pipe()
        #expect(fcntl(pipe.writer, F_SETFL, O_NONBLOCK) == 0)
        let sink = LogSink(descriptor: pipe.writer)
        sink.submit(Array(repeating: 1, count: 1_000_000), lines: 1)
        #expect(pipe.read(1_000_000).count == 1_000_000)
        #expect(sink.linesDropped == 0)
    }

    @Test(arguments: [true, false])
    func `a reader that takes nothing in time costs lines, which is told once, until it reads again`(
        blocks: Bool
    ) throws {
        let pipe = try Pipe()
        if !blocks { #expect(fcntl(pipe.writer, F_SETFL, O_NONBLOCK) == 0) }
        let events = Guarded<[OperatorEvent]>([])
        let sink = LogSink(descriptor: pipe.writer, patienceMilliseconds: 100) { event in
            events.withLock { $0.append(event) }
        }
        // The first line fills the pipe in part, and nothing waits for the second one's reader again.
        sink.submit(Array(repeating: UInt8(ascii: "x"), count: 1_000_000) + [0x0A], lines: 1)
        sink.submit([UInt8(ascii: "y"), 0x0A], lines: 1)
        try #require(sink.drain(timeoutMilliseconds: 60_000), "no line waits for ever")
        let lost = sink.samples.filter { $0.metric.name == "dictum_log_lines_dropped_total" }
        #expect(lost.map(\.labels) == [["slow"], ["refused"]] && lost.map(\.value) == [2, 0])
        let told = events.withLock { $0 }
        #expect(told.count == 1 && "\(told)".contains("its reader has taken nothing for"), "\(told)")
        var taken = 0
        while pipe.isReadable { taken += pipe.readSome().count }
        #expect(taken > 0 && taken < 1_000_000)
        sink.submit([UInt8(ascii: "z"), 0x0A], lines: 1)
        #expect(pipe.read(3) == [0x0A, UInt8(ascii: "z"), 0x0A], "behind the end of the torn line")
        #expect(sink.drain(timeoutMilliseconds: 60_000))
        let last = try #require(events.withLock { $0.last })
        #expect("\(last)".contains("takes lines again: 2 were lost"))
        sink.submit(Array(repeating: UInt8(ascii: "x"), count: 1_000_000) + [0x0A], lines: 1)
        #expect(sink.drain(timeoutMilliseconds: 60_000))
        #expect(sink.linesDropped == 3)
        #expect(events.withLock { $0.count } == 2, "the next trouble is told a minute later at the earliest")
    }

    @Test func `lines for a descriptor that takes none are counted as refused, and take no room`() throws {
        let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
        defer { withExtendedLifetime(full) {} }
        let sink = LogSink(descriptor: full.fileDescriptor, pendingBytesMax: 1)
        for _ in 0..<2 {
            sink.submit([1], lines: 3)
            #expect(sink.drain(timeoutMilliseconds: 60_000))
        }
        let lost = sink.samples.filter { $0.metric.name == "dictum_log_lines_dropped_total" }
        #expect(lost.map(\.labels) == [["slow"], ["refused"]] && lost.map(\.count) == [0, 6])
    }

    @Test func `lines are handed over and counted once, however often a log is flushed`() throws {
        let pipe = try Pipe()
        let sink = LogSink(descriptor: pipe.writer)
        let log = log(sink)
        log.log(RequestRecord())
        for _ in 0..<2 { log.flush() }
        log.log(RequestRecord())
        log.flush()
        #expect(log.isEmpty && sink.drain(timeoutMilliseconds: 60_000))
        let written = sink.samples.filter { $0.metric.name == "dictum_log_lines_total" }
        #expect(written.map(\.count) == [2])
        #expect(pipe.readSome().count { $0 == 0x0A } == 2)
    }

    @Test func `a batch goes out with the line that brings it to 32 KiB`() throws {
        let pipe = try Pipe()
        let sink = LogSink(descriptor: pipe.writer)
        let log = log(sink)
        var line: [UInt8] = []
        Self.format.append(RequestRecord(), to: &line)
        for _ in 0..<(32_767 / line.count) { log.log(RequestRecord()) }
        #expect(!log.isEmpty)
        log.log(RequestRecord())
        #expect(log.isEmpty)
        #expect(pipe.read(32_768).count == 32_768)
        #expect(sink.drain(timeoutMilliseconds: 60_000))
    }

    @Test(
        arguments: [(nil, true, "{"), (nil, false, "1970"), (.text, true, "1970"), (.json, false, "{")]
            as [(Configuration.Log.Access.Format?, Bool, String)])
    func `lines have the form that is set, or else that of the output, and a share of 0 is no log`(
        form: Configuration.Log.Access.Format?, isJSON: Bool, start: String
    ) throws {
        let pipe = try Pipe()
        let output = AccessLogOutput(sink: LogSink(descriptor: pipe.writer), isJSON: isJSON)
        var configuration = Configuration()
        configuration.log.access.format = form
        configuration.log.access.sample = 1
        let log = try #require(output.log(for: configuration, routes: RouteNames(configuration)))
        log.log(RequestRecord())
        log.flush()
        #expect(String(decoding: pipe.read(start.utf8.count), as: UTF8.self) == start)
        #expect(output.sink.drain(timeoutMilliseconds: 60_000))
        configuration.log.access.sample = 0
        #expect(output.log(for: configuration, routes: RouteNames(configuration)) == nil)
    }

    @Test func `as many bytes wait as are allowed, and lines that are lost or written take no room`() throws {
        let pipe = try Pipe()
        let sink = LogSink(descriptor: pipe.writer, pendingBytesMax: 4)
        sink.submit([0x31, 0x31, 0x31, 0x31, 0x0A], lines: 3)
        for _ in 0..<2 {
            sink.submit([0x32, 0x32, 0x32, 0x0A], lines: 1)
            #expect(sink.drain(timeoutMilliseconds: 60_000))
        }
        #expect(sink.linesDropped == 3)
        #expect(pipe.isReadable && pipe.readSome().count == 8)
    }

    @Test func `a share is spread without a rhythm, and every failure has a line`() {
        var sample = LogSample(0.1, seed: 7)
        let chosen = (0..<10_000).filter { _ in sample.takesNext() }
        #expect(abs(chosen.count - 1_000) <= 1)
        // A client whose request is always the tenth has its share too, and no more.
        for place in 0..<10 {
            #expect((50...150).contains(chosen.count { $0 % 10 == place }), "\(place)")
        }
        #expect(sample.rate(ofFailure: false) == Array("0.1".utf8) && sample.rate(ofFailure: true) == [0x31])
        #expect(LogSample(1).rate(ofFailure: false) == nil)
        var whole = LogSample(1)
        #expect((0..<1_000).allSatisfy { _ in whole.takesNext() })
    }

    @Test func `sampled lines carry the rate that estimates the totals`() throws {
        let pipe = try Pipe()
        let sink = LogSink(descriptor: pipe.writer)
        let log = log(sink, share: 0.01)
        for number in 0..<1_000 {
            var record = RequestRecord()
            record.status = number % 100 == 0 ? 503 : 200
            if number % 100 == 50 { record.fault = .upstream("silent for upstream.idle_timeout") }
            if number % 100 == 75 { record.fault = .client("closed") }
            log.log(record)
        }
        log.flush()
        #expect(sink.drain(timeoutMilliseconds: 60_000))
        sink.submit([0], lines: 1)
        var text: [UInt8] = []
        while let byte = pipe.read(1).first, byte != 0 { text.append(byte) }
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
        #expect(lines.count { $0.hasSuffix("sample_rate=1") } == 20)
        #expect((9...11).contains(lines.count { $0.hasSuffix("sample_rate=0.01") }))
        #expect((29...31).contains(lines.count))
    }

    @Test(arguments: [(1.0, 1_000), (0.25, 250), (0.01, 10), (0.0, 0)])
    func `a share of the requests is logged`(share: Double, lines: Int) throws {
        let pipe = try Pipe()
        let sink = LogSink(descriptor: pipe.writer, pendingBytesMax: 1 << 20)
        let log = log(sink, share: share)
        for _ in 1...1_000 { log.log(RequestRecord()) }
        log.flush()
        var line: [UInt8] = []
        Self.format.append(RequestRecord(), to: &line)
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

extension LogSink {
    /// The lines that were lost, for any reason.
    var linesDropped: Int {
        samples.filter { $0.metric.name == "dictum_log_lines_dropped_total" }.reduce(0) { $0 + $1.count }
    }
}
