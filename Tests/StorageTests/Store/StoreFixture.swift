import Dispatch
import Foundation
import Primitives
import Testing

@testable import Dictionaries
@testable import Storage

/// A folder of its own for a test's store; removed with the last reference.
final class StoreFolder {
    let path: String
    var database: String { path + "/dictum.sqlite" }

    convenience init() throws {
        try self.init(path: NSTemporaryDirectory() + "dictum-store-\(UUID().uuidString)")
    }

    /// Makes a folder that an exit test's process finds by `sharedDatabase`, because its closure can capture
    /// nothing in Swift 6.2.
    convenience init(sharedAs name: String) throws {
        try self.init(path: Self.sharedPath(name, process: getpid()))
    }

    private init(path: String) throws {
        self.path = path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Returns, in the process of an exit test, the database in the folder that its parent made with this
    /// name.
    static func sharedDatabase(_ name: String) -> String {
        sharedPath(name, process: getppid()) + "/dictum.sqlite"
    }

    private static func sharedPath(_ name: String, process: pid_t) -> String {
        NSTemporaryDirectory() + "dictum-store-\(name)-\(process)"
    }

    /// The files in the folder, sorted.
    var files: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: path).sorted()) ?? []
    }

    /// Runs the sqlite3 command on the database and returns its output.
    @discardableResult
    func sqlite(_ sql: String) throws -> String {
        try runCommand("sqlite3", [database, sql])
    }

    /// Returns SQL for the row of a body in `body`.
    func bodyRow(of body: Body) -> String {
        "(SELECT body FROM version WHERE digest = X'\(body.digest.hex)')"
    }

    /// Reads, changes and writes back the bytes of a file.
    func edit(_ file: String, _ change: (inout [UInt8]) -> Void) throws {
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
        change(&bytes)
        try Data(bytes).write(to: URL(fileURLWithPath: file))
    }
}

/// Runs a command to its end and returns its standard output; a failure is an issue of the test.
@discardableResult
func runCommand(_ name: String, _ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [name] + arguments
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let bytes = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(name) \(arguments)")
    return String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
}

/// The events that a store reported, in order.
final class StoreEvents: Sendable {
    private let list = Guarded<[OperatorEvent]>([])

    var all: [OperatorEvent] { list.withLock { $0.map(\.plain) } }
    var subjects: [String?] { list.withLock { $0.map(\.subject) } }
    var errors: [String] { all.filter { $0.level == .error }.map(\.text) }
    var log: @Sendable (OperatorEvent) -> Void {
        { event in self.list.withLock { $0.append(event) } }
    }
}

let feedChain = ChainKey(authority: "api.example", match: "/feed")

/// Makes a body of `count` bytes that differs for every seed and hardly compresses.
func sampleBody(_ seed: Int, count: Int = 1000) -> Body {
    var state = UInt64(truncatingIfNeeded: seed) &* 0x9E37_79B9_7F4A_7C15 | 1
    return Body(
        (0..<count).map { _ in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return UInt8(truncatingIfNeeded: state)
        })
}

extension DictionaryStore {
    /// Opens a store for tests: only a flush makes it try a failing disk again.
    static func open(
        _ path: String, maxBytes: Int = 1 << 30, maxChains: Int = 1000, memoryBytes: Int = 64 << 20,
        writeBytesPerSecond: Int = 1 << 40, retrySeconds: Double = 3600,
        log: @escaping @Sendable (OperatorEvent) -> Void = { _ in }
    ) throws(StoreError) -> DictionaryStore {
        var configuration = StoreConfiguration(path: path, maxBytes: maxBytes, log: log)
        configuration.maxChains = maxChains
        configuration.memoryBytes = memoryBytes
        configuration.writeBytesPerSecond = writeBytesPerSecond
        configuration.retrySeconds = retrySeconds
        // Versions become records even if only a few are used.
        configuration.versionsInUseMax = 1
        return try DictionaryStore(configuration: configuration)
    }

    /// Admits a body with defaults that most tests do not care about.
    @discardableResult
    func admit(
        _ body: Body, chain: ChainKey = feedChain, url: String = "/feed", variant: String = "",
        etag: String? = nil,
        keep: Int = 16, maxAge: Int = 1000, isImplied: Bool = false, over former: Version? = nil,
        now: Int = 1000
    ) -> Version {
        do {
            return try admission.admit(
                VersionCandidate(
                    body, key: VersionKey(chain: chain, url: url, variant: variant),
                    policy: AdmissionPolicy(versions: keep, maxAge: maxAge, startsInProbation: isImplied),
                    etag: etag, contentType: "application/json"), over: former, now: now)
        } catch {
            preconditionFailure("the store has no place: \(error)")
        }
    }

    /// Reserves a slot for the copy of a response to `/feed`; returns the reason if it is refused.
    func slot(
        chain: ChainKey = feedChain, url: String = "/feed", variant: String = "", bytes: Int?,
        isImplied: Bool = false
    ) -> Result<AdmissionSlot, AdmissionRefusal> {
        Result { () throws(AdmissionRefusal) in
            try admission.reserve(
                VersionKey(chain: chain, url: url, variant: variant), bytes: bytes,
                policy: AdmissionPolicy(startsInProbation: isImplied))
        }
    }

    /// Loads a body and waits for it.
    func loaded(_ version: Version) async -> Body? {
        // A lock, because the thread sanitizer does not see that resuming a task hands the value over.
        let answer = Guarded<Body?>(nil)
        await withCheckedContinuation { continuation in
            load(version) { body in
                answer.withLock { $0 = body }
                continuation.resume()
            }
        }
        return answer.withLock { $0 }
    }

    /// The parts of the store that tests look into.
    var index: DictionaryIndex { memory.index }
    var hot: Guarded<HotBodies> { memory.hot }
    var state: Guarded<StoreState> { memory.state }
    var writeQueue: DispatchQueue { writer.queue }
    var readQueue: DispatchQueue { loader.queue }
    var pinnedBytes: Int { state.withLock { $0.pins.bytes } }

    /// Evicts versions and schedules the write of their removal.
    func evict(_ versions: [Version], reason: StoreStatistics.Eviction) {
        _ = writer.evict(versions, reason: reason)
    }

    /// Checks the lock and the requests of commands at once.
    func lookNow() { writeQueue.sync { writer.follow() } }

    /// Returns true if a request for `/feed` finds the digest.
    func finds(_ body: Body) -> Bool {
        reader().find(digest: body.digest, authority: "api.example", url: PathAndQuery(path: "/feed")) != nil
    }
}

extension DictionaryIndex {
    /// Returns the versions of a chain, the oldest first.
    func versions(of key: ChainKey) -> [Version] {
        allVersions().filter { $0.chainKey == key }.sorted { $0.isOlder(than: $1) }
    }
}

extension DictionaryIndex.Reader {
    /// Returns true if a body with this digest is in the chain.
    func contains(chain: ChainKey, digest: Digest) -> Bool { version(chain: chain, digest: digest) != nil }
}

extension Result {
    var isGranted: Bool { (try? get()) != nil }
}

extension VersionFacts {
    /// The facts of a version without a variant, if nothing else is said.
    init(
        digest: Digest, url: String, variant: String = "", etag: String? = nil, contentType: String? = nil,
        bytes: Int, maxAge: Int
    ) {
        self.init(
            digest: digest, url: url, etag: etag, bytes: bytes,
            traits: VersionTraits(variant: variant, contentType: contentType, maxAge: maxAge))
    }
}

extension VersionState {
    /// The state of a version that was offered to one client, which has come back.
    static func held(at second: Int, wantedAt lastWanted: Int? = nil) -> VersionState {
        var state = VersionState(admittedAt: second)
        state.hold(1, hasReturned: true)
        state.lastOffered = state.admittedAt
        state.lastWanted = UInt32(lastWanted ?? second)
        state.wantedOnDisk = state.lastWanted
        state.lastContact = state.lastWanted
        return state
    }
}
