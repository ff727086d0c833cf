import Foundation
import Primitives
import Testing

@testable import Dictionaries
@testable import Storage

@Suite struct StoreKeyFileTests {
    private let folder: StoreFolder
    private var file: String { folder.path + "/store.key" }

    init() throws {
        folder = try StoreFolder()
    }

    private func write(_ text: String, mode: String = "600") throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        try runCommand("chmod", [mode, file])
    }

    /// Opens the file and returns its warnings.
    @discardableResult
    private func open() throws(StoreError) -> (keys: StoreKeys, warnings: [String]) {
        var warnings: [String] = []
        let keys = try StoreKeyFile.keys(
            at: file, tell: { warnings.append($0) }, warn: { warnings.append($0) })
        return (keys, warnings)
    }

    /// Returns the reason why the file is refused.
    private func refusal() -> String? {
        do throws(StoreError) {
            try open()
            return nil
        } catch {
            return error.description
        }
    }

    private func tag(_ keys: StoreKeys) -> IdentityTag? {
        keys.identityTag(authority: "a", items: [("b", [1])])
    }

    private static let line = "dictum-key-1 " + Base64.encode([UInt8](0..<32))

    @Test func `a missing file is made, for this user alone, and holds the same key from then on`() throws {
        try runCommand("chmod", ["755", folder.path])
        let first = try open()
        #expect(first.warnings.count == 1, "it says that it made one")
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let expected = /dictum-key-1 [A-Za-z0-9+\/]{43}=\n/
        #expect(try expected.wholeMatch(in: text) != nil)
        #expect(try runCommand("stat", ["-c", "%a", file, folder.path]) == "600\n755")
        #expect(folder.files == ["store.key"], "and nothing else")
        let second = try open()
        #expect(tag(first.keys) == tag(second.keys))
        #expect(second.warnings == [])
        try FileManager.default.removeItem(atPath: file)
        #expect(try tag(open().keys) != tag(first.keys), "each is another")
    }

    @Test func `a key made by other means is taken, as openssl rand makes it`() throws {
        let random = try runCommand("openssl", ["rand", "-base64", "32"])
        try write("dictum-key-1 \(random)\n", mode: "400")
        #expect(try open().warnings == [])
    }

    @Test func `the key in the line is what all others are derived from`() throws {
        for text in [Self.line, Self.line + "\n"] {
            try write(text)
            #expect(try tag(open().keys) == tag(#require(StoreKeys(key: [UInt8](0..<32)))))
        }
    }

    @Test(arguments: [
        "", "\n", Base64.encode([UInt8](0..<32)), "dictum-key-2 " + Base64.encode([UInt8](0..<32)),
        "dictum-key-1 " + Base64.encode([UInt8](0..<31)), "dictum-key-1 " + Base64.encode([UInt8](0..<33)),
        "dictum-key-1  " + Base64.encode([UInt8](0..<32)), line + "\n\n", line + " ", "x" + line,
        "dictum-key-1 " + String(repeating: "A", count: 42) + "B=", String(repeating: "a", count: 10_000),
    ])
    func `any other text is refused, with what to do`(text: String) throws {
        try write(text)
        let expected = "the key file \(file) is not one line of dictum-key-1"
        #expect(refusal()?.hasPrefix(expected) == true)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == text, "it is left alone")
    }

    @Test(arguments: ["644", "604", "620", "602", "601", "660"])
    func `a key that others may read or change is refused, with what to do`(mode: String) throws {
        try write(Self.line, mode: mode)
        #expect(
            refusal()?.hasSuffix(
                "has mode 0\(mode), which lets other users read or change it: chmod 600 \(file)") == true)
    }

    @Test(arguments: ["640", "440"])
    func `a key that the group may read is taken with a warning`(mode: String) throws {
        try write(Self.line, mode: mode)
        #expect(try open().warnings.count == 1)
        #expect(try open().warnings.first?.contains("has mode 0\(mode)") == true)
    }

    @Test func `a folder, and a place where no file can be made, are refused`() throws {
        try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
        #expect(refusal()?.contains("is not a regular file") == true)
        let error = #expect(throws: StoreError.self) {
            try StoreKeyFile.keys(at: folder.path + "/none/store.key", tell: { _ in }, warn: { _ in })
        }
        #expect(error?.description.contains("cannot be made (No such file or directory)") == true)
    }

    @Test func `of several that make the file at once all get the same key`() async throws {
        let path = file
        let tags = try await withThrowingTaskGroup(of: IdentityTag?.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    try StoreKeyFile.keys(at: path, tell: { _ in }, warn: { _ in }).identityTag(
                        authority: "a", items: [("b", [1])])
                }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(tags.count == 1)
    }

    @Test func `keys without a file are others each time`() throws {
        #expect(try tag(StoreKeyFile.temporaryKeys()) != tag(StoreKeyFile.temporaryKeys()))
    }

    @Test(arguments: [("a/b", "a"), ("/a", "/"), ("a", "."), ("/x/y/z.key", "/x/y")])
    func `the folder of a path is what stands before its last slash`(path: String, folder: String) {
        #expect(StoreFile.folder(of: path) == folder)
    }

    // MARK: Location

    @Test func `a key beside the database is found by any path, and one elsewhere is not`() throws {
        let (home, other, link) = (folder.path + "/home", folder.path + "/other", folder.path + "/link")
        for path in [home, other] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            try Data().write(to: URL(fileURLWithPath: path + "/key"))
        }
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "home")
        let here = FileManager.default.currentDirectoryPath
        let up = Array(repeating: "..", count: here.split(separator: "/").count).joined(separator: "/")
        for path in [home, link, home + "/../home", home + "//", (up.isEmpty ? "." : up) + home] {
            #expect(StoreKeyFile.lies(path + "/key", beside: home + "/new.sqlite"), "\(path)")
            #expect(StoreKeyFile.lies(home + "/key", beside: path + "/new.sqlite"), "\(path)")
            #expect(!StoreKeyFile.lies(other + "/key", beside: path + "/new.sqlite"), "\(path)")
        }
        // A mounted secret is often a link to its real place.
        try FileManager.default.createSymbolicLink(
            atPath: home + "/linked", withDestinationPath: other + "/key")
        #expect(!StoreKeyFile.lies(home + "/linked", beside: home + "/new.sqlite"))
        #expect(StoreKeyFile.lies(home + "/linked", beside: other + "/new.sqlite"))
        #expect(!StoreKeyFile.lies(folder.path + "/none/key", beside: folder.path + "/gone/new.sqlite"))
        #expect(!StoreKeyFile.lies("key", beside: ":memory:"))
    }
}
