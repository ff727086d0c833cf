internal import Dictionaries
internal import Primitives
internal import Storage

/// The dictionaries that clients would hold, had they been offered any.
///
/// A client is a number, made with a key that only this process has. The table is bounded and never written to disk.
struct ObservedClients: Sendable {
    /// The most clients, each counted once per `match` that it has asked for: about 16 MiB.
    static let countMax = 65_536
    /// The most URLs whose versions are numbered.
    static let historiesMax = 16_384

    /// A client, and the `match` of the dictionary that it would hold.
    struct Key: Hashable, Sendable {
        let client: UInt64
        let match: Int
    }

    /// A dictionary that a client would hold.
    struct Held: Sendable {
        var version: Storage.Version
        /// The digest of the body, which the name of a personal version does not tell.
        let digest: Digest
        /// The time until which the client keeps it, in milliseconds since 1970.
        let expiry: Int64
        /// Its number among the versions of its URL.
        let number: Int
        let url: Int
    }

    enum Visit: Sendable {
        case first
        /// The client was here before, and holds nothing now.
        case again(Lack)
        case holding(Held)
    }

    /// The reason why a client that was here before holds nothing.
    enum Lack: String, CaseIterable, Sendable {
        case nothing = "never-offered"
        /// No browser keeps the response.
        case unkept
        /// The response was no longer fresh.
        case expired
        /// The store has no longer the version.
        case evicted
    }

    private enum Entry: Sendable {
        case without(Lack)
        case with(Held)
    }

    private var entries = FadingTable<Key, Entry>(countMax: countMax)
    private var histories = FadingTable<Int, History>(countMax: historiesMax)

    /// Returns what a client holds at its visit.
    mutating func visit(_ key: Key, nowMilliseconds: Int64) -> Visit {
        switch entries.value(key) {
        case nil: .first
        case .without(let lack)?: .again(lack)
        case .with(let held)?: nowMilliseconds < held.expiry ? .holding(held) : .again(.expired)
        }
    }

    /// Records that the client holds a dictionary from now on.
    mutating func keep(_ held: Held, for key: Key) { entries.set(.with(held), for: key) }

    /// Records that the client has come and got nothing to keep; what it holds stays.
    mutating func keepNothing(_ lack: Lack, for key: Key) {
        if case .with? = entries.value(key) { return }
        entries.set(.without(lack), for: key)
    }

    // MARK: Versions of a URL

    /// The last bodies of one URL with their numbers.
    private struct History: Sendable {
        var last = 0
        var recent: [(digest: Int, number: Int)] = []
    }

    /// Returns the number of a body among the versions of its URL; a new body gets the next one.
    ///
    /// Responses that overtake each other, and a few replicas that differ, count as the versions that they are.
    mutating func number(of digest: Digest, url: Int) -> (number: Int, isNew: Bool) {
        var history = histories.value(url) ?? History()
        let name = digest.hashValue
        if let known = history.recent.first(where: { $0.digest == name }) { return (known.number, false) }
        history.last += 1
        history.recent.append((name, history.last))
        if history.recent.count > Self.recentMax { history.recent.removeFirst() }
        histories.set(history, for: url)
        return (history.last, true)
    }

    private static let recentMax = 8
}
