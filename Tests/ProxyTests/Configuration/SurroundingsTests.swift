import TestSupport
import Testing

@testable import Proxy

/// Tests that `check` names paths around its file at which something else is, or nothing that is needed.
@Suite struct SurroundingsTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write([], to: "file")
    }

    private func warnings(_ text: String, store: String = "{path: ':memory:'}") throws -> [String] {
        let whole = "upstream: {urls: [\"http://127.0.0.1:9\"]}\nstore: \(store)\n\(text)"
        return try Configuration.parse(Array(whole.utf8), looksAround: true).warnings.map(\.text)
    }

    @Test func `a path where no socket can be made is told, and a free or former one is not`() throws {
        func found(at path: String) throws -> [String] {
            try warnings("listeners: [{address: \"unix:\(path)\"}]")
        }
        let (file, missing) = (folder.file("file"), folder.file("missing/socket"))
        #expect(
            try found(at: file) == ["listeners[0].address: \(file) is not a socket: serve would not start"])
        #expect(
            try found(at: missing) == [
                "listeners[0].address: the folder of \(missing) does not exist: create it, unless systemd does"
            ])
        #expect(try found(at: folder.file("free")) == [])
        let listener = try WireListener(path: folder.file("former"))
        #expect(try found(at: folder.file("former")) == [])
        withExtendedLifetime(listener) {}
    }

    @Test func `an access log that cannot be made is told with its reason, and one that can is not`() throws {
        func found(at path: String) throws -> [String] {
            try warnings("log: {access: {file: \"\(path)\"}}")
        }
        let file = folder.file("file")
        #expect(
            try found(at: folder.path) == [
                "log.access.file: \(folder.path) is a folder: name a file, or serve does not start"
            ])
        #expect(
            try found(at: file + "/a.log") == [
                "log.access.file: \(file) is not a folder: choose another path, or serve does not start"
            ])
        #expect(
            try found(at: folder.file("missing/a.log")) == [
                "log.access.file: \(folder.file("missing")) does not exist: create it, or serve does not start"
            ])
        for path in [file, folder.file("new.log")] { #expect(try found(at: path) == []) }
    }

    @Test(arguments: [
        ("on", "personal dictionaries last until the next start"),
        ("{scope: private, identity: authorization}", "serve does not start"), ("off", nil),
    ])
    func `a key file that cannot be made is told with what it means for these routes`(
        dictionary: String, consequence: String?
    ) throws {
        let missing = folder.file("missing")
        let found = try warnings(
            "routes: [{match: /a, dictionary: \(dictionary)}]",
            store: "{path: ':memory:', key_file: \"\(missing)/key\"}")
        let told = consequence.map { "store.key_file: \(missing) does not exist: create it, or \($0)" }
        #expect(found == (told.map { [$0] } ?? []))
        let kept = try warnings(
            "routes: [{match: /a, dictionary: \(dictionary)}]",
            store: "{path: ':memory:', key_file: \"\(folder.file("key"))\"}")
        #expect(kept == [])
    }
}
