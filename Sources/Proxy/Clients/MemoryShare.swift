internal import Primitives
internal import Synchronization

/// A byte budget that all loops share; never waits.
///
/// Work that ends by itself takes what it needs (`lend`). Bytes that may wait for a client are taken through its
/// `MemoryShare`, which leaves an eighth of the budget alone.
final class MemoryBudget: Sendable {
    let limitBytes: Int
    private let taken = Atomic<Int>(0)

    init(bytes: Int) { limitBytes = bytes }

    /// Takes bytes; returns false, and takes none, if fewer are left.
    func reserve(_ bytes: Int) -> Bool {
        // Some estimates use the largest integer for "never".
        guard bytes <= limitBytes else { return false }
        if taken.wrappingAdd(bytes, ordering: .relaxed).newValue <= limitBytes { return true }
        release(bytes)
        return false
    }

    /// Takes bytes while `work` runs; returns nil without running it if fewer are left.
    func lend<Made>(_ bytes: Int, to work: () -> Made) -> Made? {
        guard reserve(bytes) else { return nil }
        defer { release(bytes) }
        return work()
    }

    var takenBytes: Int { taken.load(ordering: .relaxed) }

    func release(_ bytes: Int) {
        taken.wrappingSubtract(bytes, ordering: .relaxed)
    }
}

/// The part of a budget that one connection may take for one client.
///
/// Held bodies, encoders and decoders wait for that client, which decides how long.
///
/// Client and connection each get their `FairShare`, so that clients that read nothing cost themselves their deltas and
/// nobody else. That share leaves the last eighth of the budget alone. Of it each client may have a 256th of the budget,
/// so that bodies that leave at once find memory whatever others hold. Safe from any thread.
final class MemoryShare: Sendable {
    private let budget: MemoryBudget
    /// The connection and the client, which are the same where the client is unknown; nil without bounds.
    private let holders: (connection: ClientUse, client: ClientUse)?

    /// Makes a share without bounds of its own.
    init(of budget: MemoryBudget) { (self.budget, holders) = (budget, nil) }

    init(of budget: MemoryBudget, connection: ClientUse, client: ClientUse) {
        (self.budget, holders) = (budget, (connection, client))
    }

    /// The part of the budget that shares leave alone, and the part that each client may have in any case.
    private static let reservePart = 8
    private static let ownPart = 256

    /// Takes bytes; returns false, and takes none, if the share or the budget is used up.
    func reserve(_ bytes: Int) -> Bool {
        guard permits(bytes), budget.reserve(bytes) else { return false }
        count(bytes)
        return true
    }

    func release(_ bytes: Int) {
        budget.release(bytes)
        count(-bytes)
    }

    private func count(_ bytes: Int) {
        guard let (connection, client) = holders else { return }
        connection.memory.add(bytes)
        if client !== connection { client.memory.add(bytes) }
    }

    private func permits(_ bytes: Int) -> Bool {
        guard let (connection, client) = holders else { return true }
        let (limit, own, ofClient) = (budget.limitBytes, connection.memory.amount, client.memory.amount)
        if bytes <= limit / Self.ownPart - max(own, ofClient) { return true }
        let free = limit - limit / Self.reservePart - budget.takenBytes
        // A connection gets half of what its client may have.
        return FairShare.permits(bytes, having: own, free: free, part: 2)
            && FairShare.permits(bytes, having: ofClient, free: free)
    }

    /// Changes the size of a loan, or makes one; returns false, and changes nothing, if there is not enough.
    func resize(_ loan: inout MemoryLoan?, to bytes: Int) -> Bool {
        if loan != nil { return loan?.resize(to: bytes) ?? false }
        loan = MemoryLoan(bytes, from: self)
        return loan != nil
    }
}

/// A loan that somebody holds who knows nothing of it.
final class KeptLoan {
    private let loan: MemoryLoan

    init?(_ bytes: Int, from share: MemoryShare) {
        guard let loan = MemoryLoan(bytes, from: share) else { return nil }
        self.loan = loan
    }
}

/// Bytes taken from a share, which are released at the end of the loan's life.
struct MemoryLoan: ~Copyable {
    private let share: MemoryShare
    private(set) var bytes: Int

    /// Takes bytes; returns nil if fewer are left.
    init?(_ bytes: Int, from share: MemoryShare) {
        guard share.reserve(bytes) else { return nil }
        (self.share, self.bytes) = (share, bytes)
    }

    deinit { share.release(bytes) }

    /// Changes the size of the loan; returns false, and changes nothing, if the share is used up.
    mutating func resize(to bytes: Int) -> Bool {
        if bytes > self.bytes {
            guard share.reserve(bytes - self.bytes) else { return false }
        } else {
            share.release(self.bytes - bytes)
        }
        self.bytes = bytes
        return true
    }
}
