internal import Dictionaries
internal import Primitives

/// The results of looking for a version of another node.
package enum SharedLookUp: String, CaseIterable, Sendable {
    /// The version was there, and its body is what its name says.
    case hit
    /// An announced version was gone, or no announcement is known and nobody has it or had it a short time ago.
    case miss
    /// The reply did not come in time.
    case late
    /// No node has announced it, and all announcements are known, so nobody was asked.
    case unannounced
    /// Its client, or all clients together, ask too often.
    case limited
    case unavailable
    /// The value was not what its name says.
    case corrupt
    /// The local store had no place for it.
    case refused
}

/// Decides which digests the shared store is asked for: clients may name any.
///
/// A value without a clock: times are monotonic nanoseconds.
package struct SharedQuestions: Sendable {
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

    /// Returns why a question is not to be asked; nil, and counts it, if it is.
    ///
    /// - Parameters:
    ///   - client: A number of the client's address.
    ///   - isAnnounced: True if an announcement names the version.
    ///   - isComplete: True if all announcements are known.
    package mutating func judge(
        _ name: SharedName, client: UInt128, isAnnounced: Bool, isComplete: Bool, now: UInt64
    ) -> SharedLookUp? {
        if let until = missing.value(name) {
            if now < until { return .miss }
            missing.remove(name)
        }
        let time = Int64(clamping: now)
        guard !isAnnounced else {
            return ofAnnounced.take(at: Self.announced, now: time) == nil ? nil : .limited
        }
        guard !isComplete else { return .unannounced }
        var own = clients.value(client) ?? TokenBucket()
        defer { _ = clients.insert(own, bytes: 0, for: client) }
        return own.take(at: Self.perClient, now: time) ?? all.take(at: Self.inAll, now: time) == nil
            ? nil : .limited
    }

    package mutating func recordMissing(_ name: SharedName, now: UInt64) {
        _ = missing.insert(now &+ Self.missingNanoseconds, bytes: 22, for: name)
    }

    /// Forgets that, because a node has announced the version.
    package mutating func recordAnnounced(_ name: SharedName) { missing.remove(name) }
}
