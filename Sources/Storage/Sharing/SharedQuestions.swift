internal import Dictionaries
internal import Primitives

/// Decides which digests the shared store is asked for: clients may name any.
///
/// A value without a clock: times are monotonic nanoseconds.
package struct SharedQuestions: Sendable {
    package enum Verdict: String, Sendable, CaseIterable {
        case ask
        /// No node has announced the version, and all announcements are known.
        case unannounced
        /// Nobody had it a short time ago.
        case missing
        /// Its client, or all clients together, ask too often.
        case limited
    }

    /// The questions of a client per second, and of all clients, about versions that no announcement names.
    private static let perClient = TokenBucket.Shape(perSecond: 5)
    private static let inAll = TokenBucket.Shape(perSecond: 200)
    /// The questions per second about announced versions: each leads to a body, as long as nobody cheats.
    private static let announced = TokenBucket.Shape(perSecond: 2000)
    private static let missingNanoseconds: UInt64 = 30_000_000_000
    private static let tableBytes = 1 << 20

    private var missing = RecencyMap<SharedName, UInt64>(bytesMax: tableBytes)
    private var clients = RecencyMap<UInt128, TokenBucket>(bytesMax: tableBytes)
    private var all = TokenBucket()
    private var ofAnnounced = TokenBucket()

    package init() {}

    /// Returns the verdict on a question, and counts it if it is to be asked.
    ///
    /// - Parameters:
    ///   - client: A number of the client's address.
    ///   - isAnnounced: True if an announcement names the version.
    ///   - isComplete: True if all announcements are known.
    package mutating func judge(
        _ name: SharedName, client: UInt128, isAnnounced: Bool, isComplete: Bool, now: UInt64
    ) -> Verdict {
        if let until = missing.value(name) {
            if now < until { return .missing }
            missing.remove(name)
        }
        let time = Int64(clamping: now)
        guard !isAnnounced else {
            return ofAnnounced.take(at: Self.announced, now: time) == nil ? .ask : .limited
        }
        guard !isComplete else { return .unannounced }
        var own = clients.value(client) ?? TokenBucket()
        defer { _ = clients.insert(own, bytes: 0, for: client) }
        return own.take(at: Self.perClient, now: time) ?? all.take(at: Self.inAll, now: time) == nil
            ? .ask : .limited
    }

    package mutating func recordMissing(_ name: SharedName, now: UInt64) {
        _ = missing.insert(now &+ Self.missingNanoseconds, bytes: 22, for: name)
    }

    /// Forgets that, because a node has announced the version.
    package mutating func recordAnnounced(_ name: SharedName) { missing.remove(name) }
}
