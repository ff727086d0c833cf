internal import Dictionaries
internal import Foundation
internal import Proxy
internal import Redis
internal import Storage

/// The store that several proxies share, for the commands of `dictum store`; blocking.
struct SharedCatalogue {
    /// A version that the nodes have announced and the server has.
    struct Entry {
        let key: String
        let chain: ChainKey
        let digest: Digest
        let bytes: Int
        /// The time of admission, in seconds since 1970.
        let admittedAt: Int
    }

    enum Verdict: Equatable {
        case sound(bytes: Int)
        case damaged
        /// Sealed, and there is no key to open it; or of a newer release.
        case unknown
        /// Expired or evicted meanwhile.
        case gone
    }

    private static let pageCount = 1_000
    /// The number of keys of one command.
    private static let batchCount = 500

    let url: String
    private let session: RedisSession
    private let names: SharedKeys
    private let keys: StoreKeys?

    /// Connects to the server of a configuration.
    init(_ configuration: Configuration) throws {
        guard let settings = configuration.store.shared else {
            throw CommandError("the configuration has no store.shared")
        }
        url = settings.text
        keys = try Self.commonKeys(configuration.store)
        names = SharedKeys(prefix: settings.keyPrefix, keys: keys)
        session = RedisSession(settings)
        guard session.connect(milliseconds: 5_000) else {
            session.client.stop()
            throw CommandError(session.lastWarning ?? "shared store \(url): no connection within 5 s")
        }
    }

    /// Returns the keys that the nodes have in common; nil without `key_file`.
    private static func commonKeys(_ store: Configuration.Store) throws -> StoreKeys? {
        guard let file = store.keyFile, FileManager.default.fileExists(atPath: file) else { return nil }
        return try StoreKeyFile.keys(at: file, tell: { _ in }, warn: { _ in })
    }

    func close() { session.client.stop() }

    /// Returns the replies.
    ///
    /// - Parameter isLenient: True to return also the errors that say that a key has what Dictum never writes.
    private func ask(_ commands: [RedisCommand], isLenient: Bool = false) throws -> [RESPValue] {
        guard let replies = session.ask(commands) else {
            throw CommandError(session.lastWarning ?? "shared store \(url): no reply in time")
        }
        for (command, reply) in zip(commands, replies) {
            guard let error = reply.error, !error.isMissingKey, !(isLenient && error.isForeignValue) else {
                continue
            }
            throw CommandError("shared store \(url): \(command.name): \(error.advice ?? error.message)")
        }
        return replies
    }

    // MARK: Reading

    /// Returns the keys under the prefix and schema.
    private func scan() throws -> Set<String> {
        var found: Set<String> = []
        var cursor = "0"
        repeat {
            let command = RedisCommand("SCAN", cursor, "MATCH", names.pattern, "COUNT", "\(Self.pageCount)")
            guard let page = try ask([command]).first?.array, page.count == 2, let next = page[0].text,
                let keys = page[1].array
            else { throw CommandError("shared store \(url): invalid reply to SCAN") }
            found.formUnion(keys.compactMap(\.text).filter(names.has))
            cursor = next
        } while cursor != "0"
        return found
    }

    /// Returns the keys of all versions, without those of their further parts.
    func versionKeys() throws -> [String] {
        try scan().filter { SharedName(key: $0) != nil }.sorted()
    }

    /// Returns the announced public versions among the keys, by chain and age.
    func entries(among keys: [String]) throws -> [Entry] {
        let present = Set(keys)
        var found: [String: Entry] = [:]
        for news in try announcements() {
            guard let chain = news.chain, let key = names.key(of: news.name), present.contains(key) else {
                continue
            }
            found[key] = Entry(
                key: key, chain: chain, digest: news.name.digest, bytes: news.bytes,
                admittedAt: Int(news.rank / 1_000_000))
        }
        return found.values.sorted { left, right in
            let order = [left, right].map { ($0.chain.authority, $0.chain.match, -$0.admittedAt, $0.key) }
            return order[0] < order[1]
        }
    }

    private func announcements() throws -> [SharedNews] {
        var news: [SharedNews] = []
        var start = "-"
        while true {
            let reply = try ask([RedisCommand("XRANGE", names.news, start, "+", "COUNT", "\(Self.pageCount)")]
            )
            let entries = reply.first?.array ?? []
            for entry in entries {
                for (name, value) in (entry.array?.last?.array ?? []).pairs
                where name.bytes == SharedNews.Entry.versions {
                    news += value.bytes.map(SharedNews.read) ?? []
                }
            }
            guard entries.count == Self.pageCount, let last = entries.last?.array?.first?.text else {
                return news
            }
            start = "(" + last
        }
    }

    /// Reads a version and compares it with its name.
    func verify(_ key: String) throws -> Verdict {
        guard let name = SharedName(key: key),
            let reply = try ask([.get(Array(key.utf8))], isLenient: true).first, reply != .null
        else { return .gone }
        if let value = reply.bytes, SharedValue.isNewer(value) { return .unknown }
        // Nodes refuse a value that says the opposite of its name.
        guard let head = reply.bytes.flatMap(SharedValue.init), head.isSealed == name.isSealed else {
            return .damaged
        }
        guard !name.isSealed || names.key(of: name) == key else { return .unknown }
        let parts = names.partKeys(of: key, parts: head.parts).map { Array($0.utf8) }
        let others = parts.isEmpty ? [] : try ask(parts.map { .get($0) }, isLenient: true).compactMap(\.bytes)
        guard let content = head.content(with: others),
            let record = SharedRecord(content, named: name, keys: keys)
        else { return .damaged }
        return .sound(bytes: record.body.count)
    }

    // MARK: Removing

    /// Removes versions with all their parts; nodes that hold them may write them again.
    func remove(_ keys: [String]) throws {
        let all = keys.flatMap { [$0] + names.partKeys(of: $0, parts: SharedValue.partsMax) }
        try delete(all)
    }

    /// Removes everything under the prefix and schema.
    func removeAll() throws { try delete(Array(scan())) }

    private func delete(_ keys: [String]) throws {
        for batch in keys.pieces(of: Self.batchCount) {
            _ = try ask([.delete(batch.map { Array($0.utf8) })])
        }
    }
}
