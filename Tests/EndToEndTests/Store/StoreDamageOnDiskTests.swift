internal import Dictionaries
internal import Foundation
internal import Storage
internal import TestSupport
internal import Testing

/// A store that is damaged when the proxy starts: it says so loudly, keeps the file, and serves.
@Suite(.timeLimit(.minutes(40))) struct StoreDamageOnDiskTests {
    enum Damage: String, CaseIterable, CustomTestStringConvertible {
        case truncated, overwritten, header, foreignLog
        var testDescription: String { rawValue }
    }

    private static let old = Feed.bytes(version: 0, items: 100)
    private static let new = Feed.bytes(version: 1, items: 100)

    private func apply(_ damage: Damage, to store: FilledStore) throws {
        var bytes = try #require(store.folder.read("store.sqlite"))
        switch damage {
        case .truncated: bytes = Array(bytes.prefix(bytes.count / 2 - 100))
        case .overwritten:
            // Every page but the first.
            bytes.replaceSubrange(4096..., with: Noise.bytes(bytes.count - 4096, seed: 3))
        case .header: bytes.replaceSubrange(0..<100, with: Noise.bytes(100, seed: 4))
        case .foreignLog:
            try store.folder.write(Noise.bytes(20_000, seed: 5), to: "store.sqlite-wal")
        }
        try store.folder.write(bytes, to: "store.sqlite")
    }

    @Test(arguments: Damage.allCases)
    func `damage is met with an empty store or with what is whole, and never with a wrong body`(
        _ damage: Damage
    ) throws {
        let store = try FilledStore()
        try store.admit(Array(1...300))
        try apply(damage, to: store)
        let answers = [Self.old, Self.new].map {
            wire(
                "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: public, max-age=60",
                body: $0)
        }
        let proxy = try ServedProxy(Origin(answers), in: store.folder)
        try store.folder.write(Self.old, to: "old")
        #expect(try proxy.curl("/feed").carries(Self.old))
        #expect(try proxy.curl("/feed", "dcz", over: "old").head["Content-Encoding"] == "dcz")
        let result = try proxy.process.terminate()
        #expect(result.status == 0)
        let isSetAside = store.folder.names().contains { $0.hasPrefix("store.sqlite.damaged-20") }
        // A log that is not of this file is passed over by SQLite: the file is whole.
        #expect(isSetAside == (damage != .foreignLog))
        if isSetAside {
            let loud = result.errorLines.filter { $0.contains("\"error\"") && $0.contains("set aside") }
            #expect(loud.count == 1)
        }
        #expect(try store.run("verify").status == 0)
        #expect(try store.sqlite("PRAGMA integrity_check") == "ok")
    }

    @Test func `of damaged files the newest three are kept`() throws {
        let store = try FilledStore()
        try store.admit([1])
        for round in 1...5 {
            try store.folder.write(Noise.bytes(5000 + round, seed: 1), to: "store.sqlite")
            let proxy = try ServedProxy(Origin(wire("HTTP/1.1 404 Not Found", body: [])), in: store.folder)
            #expect(try proxy.process.terminate().status == 0)
        }
        let kept = store.folder.names().filter {
            $0.contains("damaged") && !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm")
        }
        #expect(Set(kept.map { store.folder.read($0)?.count }) == [5003, 5004, 5005])
    }
}
