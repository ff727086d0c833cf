import Dictionaries
import Foundation
import Glibc
import Primitives
import Storage
import TestSupport
import Testing

@testable import Proxy

/// The access log in a file: rotation, full disks, files that cannot be opened.
@Suite struct LogFileTests {
    private let folder: TemporaryFolder
    private let events = Guarded<[OperatorEvent]>([])

    private var path: String { folder.file("access.log") }

    init() throws {
        folder = try TemporaryFolder()
    }

    private func sink(at path: String? = nil) throws -> LogSink {
        try LogSink(file: path ?? self.path) { [events] event in events.withLock { $0.append(event) } }
    }

    private func text(_ name: String) -> String {
        folder.read(name).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    private func count(_ name: String, _ label: String, of sink: LogSink) -> Double? {
        sink.samples.first { $0.metric.name == name && $0.labels == [label] }?.value
    }

    @Test func `a rotation under load loses no line and tears none`() throws {
        let sink = try sink()
        let (writers, batches, rotations) = (4, 400, 20)
        let done = Guarded(0)
        for writer in 0..<writers {
            Thread.detachNewThread {
                for batch in 0..<batches {
                    let lines = (0..<5).map {
                        "\(writer) \(batch) \($0) \(String(repeating: "x", count: 200))\n"
                    }
                    sink.submit(Array(lines.joined().utf8), lines: 5)
                    if batch % 20 == 0 { usleep(1_000) }
                }
                done.withLock { $0 += 1 }
            }
        }
        for number in 1...rotations {
            try FileManager.default.moveItem(atPath: path, toPath: "\(path).\(number)")
            #expect(sink.reopen())
            try waitUntil("the file is there again") { FileManager.default.fileExists(atPath: path) }
        }
        try waitUntil("all lines are submitted") { done.withLock { $0 } == writers }
        #expect(sink.drain(timeoutMilliseconds: 60_000))
        #expect(sink.linesDropped == 0)
        #expect(count("dictum_log_reopens_total", "done", of: sink) == Double(rotations))
        let names = ["access.log"] + (1...rotations).map { "access.log.\($0)" }
        let lines = names.flatMap { text($0).split(separator: "\n") }
        #expect(lines.count == writers * batches * 5 && Set(lines).count == lines.count)
        #expect(lines.allSatisfy { $0.wholeMatch(of: /\d \d+ \d x{200}/) != nil })
    }

    @Test func `a file that exists keeps its lines, and others may not read it`() throws {
        try folder.write(Array("before\n".utf8), to: "access.log")
        let sink = try sink()
        sink.submit(Array("after\n".utf8), lines: 1)
        #expect(sink.drain(timeoutMilliseconds: 60_000))
        #expect(text("access.log") == "before\nafter\n")
        let fresh = try self.sink(at: folder.file("fresh.log"))
        #expect(fresh.drain(timeoutMilliseconds: 60_000))
        let facts = try FileManager.default.attributesOfItem(atPath: folder.file("fresh.log"))
        #expect((facts[.posixPermissions] as? Int).map { $0 & 0o027 } == 0)
    }

    @Test func `a file that cannot be opened again leaves the former one in use, and says so`() throws {
        let inner = URL(filePath: folder.file("inner"))
        try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
        let sink = try sink(at: inner.appending(path: "access.log").path)
        try FileManager.default.moveItem(at: inner, to: URL(filePath: folder.file("moved")))
        #expect(sink.reopen())
        sink.submit(Array("line\n".utf8), lines: 1)
        #expect(sink.drain(timeoutMilliseconds: 60_000))
        #expect(text("moved/access.log") == "line\n")
        #expect(sink.linesDropped == 0)
        #expect(count("dictum_log_reopens_total", "failed", of: sink) == 1)
        let told = events.withLock { $0 }
        #expect(told.count == 1 && "\(told)".contains("No such file or directory"), "\(told)")
    }

    /// Returns the number of descriptors of this process that lead into the folder.
    private func descriptorCount() throws -> Int {
        let name = URL(filePath: folder.path).lastPathComponent
        let all = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        return all.count { descriptor in
            let link = "/proc/self/fd/\(descriptor)"
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: link)
            return target?.contains(name) ?? false
        }
    }

    @Test func `each rotation lets the former file go, and the end of the log the last one`() throws {
        var sink: LogSink? = try sink()
        for number in 1...5 {
            try FileManager.default.moveItem(atPath: path, toPath: "\(path).\(number)")
            #expect(sink?.reopen() == true)
            #expect(sink?.drain(timeoutMilliseconds: 60_000) == true)
        }
        #expect(try descriptorCount() == 1)
        sink = nil
        try waitUntil("the last file is closed") { try descriptorCount() == 0 }
    }

    @Test func `a start without the file is an error that names the setting`() {
        let missing = folder.file("missing/access.log")
        let error = #expect(throws: StartError.self) { try sink(at: missing) }
        #expect(error?.description.contains("log.access.file") == true)
    }

    @Test func `without a file there is nothing to open again`() {
        #expect(!LogSink().reopen())
    }

    @Test func `a full disk loses whole lines, counts them, and is told once until it ends`() throws {
        // Every write to it fails with ENOSPC.
        let sink = try sink(at: "/dev/full")
        for _ in 0..<3 { sink.submit(Array("a\nb\n".utf8), lines: 2) }
        #expect(sink.drain(timeoutMilliseconds: 60_000))
        #expect(count("dictum_log_lines_dropped_total", "refused", of: sink) == 6)
        #expect(count("dictum_log_lines_dropped_total", "slow", of: sink) == 0)
        let told = events.withLock { $0 }
        #expect(told.count == 1 && "\(told)".contains("No space left on device"), "\(told)")
    }
}
