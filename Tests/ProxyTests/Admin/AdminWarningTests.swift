internal import Dictionaries
internal import Foundation
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let first = Feed.bytes(version: 0, items: 40)

/// The warnings of `/status`.
@Suite(.timeLimit(.minutes(40))) struct AdminWarningTests {
    @Test func `warnings tell states, the configuration's mistakes and the log`() throws {
        let proxy = try TestProxy(
            json(first), "routes: [{match: /*}, {match: /never}]\nstore: {max_chains: 2}")
        proxy.server.report(.warning("the disk is slow"))
        proxy.server.report(.warning("the disk is slow"))
        proxy.server.report(.info("all is well"))
        for path in ["/a", "/b", "/c"] { _ = try proxy.fetch(path) }
        #expect(try proxy.turn("off") == 200)
        let warnings = try proxy.read("/status").list("warnings")
        func texts(_ source: String) -> [String] {
            warnings.filter { $0.text("source") == source }.compactMap { $0.text("text") }
        }
        #expect(texts("state").contains { $0.hasPrefix("dictionaries are switched off") })
        #expect(texts("state").contains { $0.hasPrefix("store.max_chains is reached") })
        #expect(texts("configuration").contains { $0.contains("never reached") })
        #expect(texts("log").contains("the disk is slow") && !texts("log").contains("all is well"))
        let slow = warnings.first { $0.text("text") == "the disk is slow" }
        #expect(slow?.number("count") == 2)
        #expect(warnings.last?.text("severity") == "note", "the most severe first")
    }

    @Test func `what is used up to 95 %, and loops that are silent, are told`() throws {
        let proxy = try TestProxy(json(first))
        let context = proxy.server.context
        func isTold(_ words: String, disk: Int = 0, chains: Int = 0, silentLoops: Int = 0) -> Bool {
            let snapshot = AdminStatus.Snapshot(
                context: context, samples: [], slowest: [], silentLoops: silentLoops)
            let store = StatusReport.Store(
                versions: 0, chains: chains, maxChains: 100, diskBytes: disk, maxDiskBytes: 200,
                memoryBytes: 0,
                packedBytes: 0, indexBytes: 0, evictions: [:])
            return AdminWarning.states(
                snapshot, store: store, memory: .init(context.shared, residentBytes: nil), unreadiness: nil,
                dictionaries: .init(on: true, configured: true), linesLost: [:]
            ).contains { $0.text.hasPrefix(words) }
        }
        #expect(!isTold("", disk: 189, chains: 94), "nothing at all")
        #expect(isTold("the store is full", disk: 190))
        #expect(isTold("store.max_chains is reached", chains: 95))
        #expect(isTold("event loops that did not respond: 1", silentLoops: 1))
        let memory = context.compressionMemory
        #expect(memory.reserve(memory.limitBytes / 100 * 94))
        #expect(!isTold("memory.coding"))
        #expect(memory.reserve(memory.limitBytes / 100 + 100))
        #expect(isTold("memory.coding is exhausted"))
    }

    @Test func `an upstream that is down is an error until it responds again`() throws {
        let isUp = Guarded(false)
        let origin = try Origin { request, connection in
            let isDown = request.target == "/up" && !isUp.withLock { $0 }
            connection.send(isDown ? wire("HTTP/1.1 503 Service Unavailable", body: []) : json(first))
        }
        let proxy = try TestProxy(origin, upstream: "health: {path: /up, interval: 100ms}")
        func healthy() throws -> Double? {
            try proxy.read("/status").list("upstreams").first?.number("healthy")
        }
        func isReportedDown() throws -> Bool {
            try proxy.read("/status").list("warnings").contains {
                $0.text("source") == "state" && $0.text("severity") == "error"
                    && $0.text("text")?.contains(" is down: there is no other") == true
            }
        }
        func isLogged() throws -> Bool {
            let warnings = try proxy.read("/status").list("warnings").compactMap { $0.text("text") }
            return warnings.contains { $0.contains("does not pass its health check") }
        }
        try waitUntil("the health check fails") { try healthy() == 0 }
        #expect(try isReportedDown())
        try waitUntil("the log has it") { try isLogged() }
        #expect(try proxy.read("/status").number("ready") == 0)
        isUp.withLock { $0 = true }
        try waitUntil("the health check passes") { try healthy() == 1 }
        #expect(try !isReportedDown())
        try waitUntil("what the log said is over") { try !isLogged() }
        #expect(try proxy.read("/status").number("ready") == 1)
    }

    @Test func `a shared store that is not available is a warning`() throws {
        // Nobody listens there.
        let proxy = try TestProxy(json(first), "store: {shared: \"redis://127.0.0.1:1\"}")
        let warnings = try proxy.read("/status").list("warnings").filter { $0.text("source") == "state" }
        #expect(
            warnings.contains {
                $0.text("severity") == "warning"
                    && $0.text("text")?.hasPrefix("the shared store is not available") == true
            })
    }

    @Test func `lines that the access log has lost are told with their cause`() throws {
        let full = try LogSink(file: "/dev/full") { _ in }
        let proxy = try TestProxy(Origin(json(first)), accessLog: full)
        func texts() throws -> [String] {
            try proxy.read("/status").list("warnings").filter { $0.text("source") == "state" }
                .compactMap { $0.text("text") }
        }
        #expect(try !texts().contains { $0.contains("access log") })
        _ = try proxy.fetch("/a")
        try waitUntil("the line is lost") { try texts().contains { $0.contains("access log") } }
        #expect(
            try texts().filter { $0.contains("access log") } == [
                "1 line of the access log lost since the start: its disk was full, or its reader had gone"
            ])
    }
}
