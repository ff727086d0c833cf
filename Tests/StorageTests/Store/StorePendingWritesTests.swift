import Testing

@testable import Dictionaries
@testable import Storage

@Suite struct StorePendingWritesTests {
    private func version(_ seed: Int, rank: Int64? = nil, id: Int64? = nil) -> (version: Version, body: Body)
    {
        let body = sampleBody(seed)
        let facts = VersionFacts(
            digest: body.digest, url: "/", bytes: 1000, maxAge: 10)
        return (
            Version(
                facts, id: id ?? Int64(seed), rank: rank ?? Int64(seed), chain: Chain(feedChain),
                .held(at: 0)), body
        )
    }

    @Test func `a version that comes and goes before it is written leaves no trace`() {
        var pending = PendingWrites()
        let (one, body) = version(1)
        pending.insert(one, body: body)
        let unneeded = pending.remove(one)
        #expect(unneeded?.version === one)
        #expect(pending.count == 0)
        let batch = pending.takeAll()
        #expect(batch.isEmpty)
    }

    @Test func `a version that is on disk and goes is removed there, and its other changes are forgotten`() {
        var pending = PendingWrites()
        let (one, _) = version(1)
        pending.touch(one.id, lastWanted: 5)
        pending.renew(one)
        let unneeded = pending.remove(one)
        #expect(unneeded == nil)
        let batch = pending.takeAll()
        #expect(batch.removals == [1])
        #expect(batch.changes.isEmpty)
    }

    @Test(arguments: [(-1, [2]), (0, [2, 3])])
    func `a batch keeps to its bytes, but always has one body`(difference: Int, second: [Int64]) {
        var pending = PendingWrites()
        for seed in 1...3 {
            let (version, body) = version(seed)
            pending.insert(version, body: body)
        }
        let both = 2 * PendingWrites.LogBytes.insertion(version(2).version)
        let first = pending.takeBatch(bytesMax: 1)
        let next = pending.takeBatch(bytesMax: both + difference)
        #expect(first.insertions.map(\.version.id) == [1])
        #expect(next.insertions.map(\.version.id) == second)
    }

    @Test func `no body is written before the removals that wait, as one row may take the place of another`()
    {
        var pending = PendingWrites()
        for seed in 1...3 { _ = pending.remove(version(seed).version) }
        let (new, body) = version(4)
        pending.insert(new, body: body)
        let first = pending.takeBatch(bytesMax: 2 * PendingWrites.LogBytes.removal)
        #expect(first.removals.count == 2)
        #expect(first.insertions.isEmpty)
        let second = pending.takeBatch(bytesMax: 1 << 20)
        #expect(second.removals.count == 1)
        #expect(second.insertions.map(\.version.id) == [4])
    }

    @Test func `a batch that failed is written first the next time, and in its order`() {
        var pending = PendingWrites()
        for seed in 1...4 {
            let (version, body) = version(seed)
            pending.insert(version, body: body)
        }
        let failed = pending.takeBatch(bytesMax: 60_000)
        _ = pending.remove(version(3).version)
        _ = pending.restore(failed)
        let all = pending.takeAll()
        #expect(all.insertions.map(\.version.id) == [1, 2, 4])
    }

    @Test func `a chain that is established before its version is written needs no row of its own`() {
        var pending = PendingWrites()
        let (new, body) = version(1)
        pending.insert(new, body: body)
        pending.establish(1)
        pending.establish(2)
        let batch = pending.takeAll()
        #expect(batch.established == [2])
        _ = pending.restore(batch)
        #expect(pending.count == 2)
    }

    @Test func `a failed batch comes back without what was removed meanwhile`() {
        var pending = PendingWrites()
        let (one, body1) = version(1)
        let (two, body2) = version(2)
        pending.insert(one, body: body1)
        pending.insert(two, body: body2)
        let batch = pending.takeAll()
        let early = pending.remove(one)
        let unneeded = pending.restore(batch)
        #expect(early == nil)
        #expect(unneeded.map(\.version.id) == [1])
        #expect(pending.insertions.keys.sorted() == [2])
        #expect(pending.removals.isEmpty)
    }

    @Test func `a borrowed version waits for the second request, and is no pending write until then`() {
        var pending = PendingWrites()
        let (one, body) = version(1)
        let gone = pending.borrow(one, body: body)
        let early = pending.takeAll()
        #expect(gone == [] && pending.isEmpty && early.isEmpty)
        let due = (0..<3).map { _ in pending.want(1) }
        #expect(due == [false, true, false])
        #expect(pending.count == 1)
        let batch = pending.takeAll()
        #expect(batch.insertions.map(\.version.id) == [1])
        let again = pending.want(1)
        #expect(!again)
    }

    @Test func `a borrowed version that goes leaves no trace, and may come back under its number`() {
        var pending = PendingWrites()
        let (one, body) = version(1)
        _ = pending.borrow(one, body: body)
        for _ in 0..<2 { _ = pending.want(1) }
        let first = pending.remove(one)
        _ = pending.borrow(one, body: body)
        let batch = pending.takeAll()
        #expect(pending.isEmpty && batch.isEmpty, "its former place in the order says nothing")
        let second = pending.remove(one)
        #expect(first?.version === one && second?.version === one && pending.count == 0)
    }

    @Test(arguments: [true, false])
    func `a borrowed version that is pinned or renewed is written`(isPinned: Bool) {
        var pending = PendingWrites()
        let (one, body) = version(1)
        _ = pending.borrow(one, body: body)
        if isPinned { pending.pin(1, until: 9) } else { pending.renew(version(1, rank: 9).version) }
        let batch = pending.takeAll()
        #expect(batch.insertions.map(\.version.id) == [1] && batch.count == 1)
    }

    @Test func `a body that is too large to be borrowed is written at once`() {
        var pending = PendingWrites(borrowedBytesMax: 100)
        let (one, body) = version(1)
        let gone = pending.borrow(one, body: body)
        let batch = pending.takeAll()
        #expect(gone == [] && batch.insertions.map(\.version.id) == [1])
    }

    @Test func `a failed batch comes back with what was renewed meanwhile`() {
        var pending = PendingWrites()
        let (one, body) = version(1)
        pending.insert(one, body: body)
        let batch = pending.takeAll()
        pending.renew(version(1, rank: 9).version)
        let unneeded = pending.restore(batch)
        #expect(unneeded.isEmpty)
        #expect(pending.insertions[1]?.version.rank == 9)
        #expect(pending.changes.isEmpty)
    }

    @Test func `an older touch or renewal never replaces a newer one`() {
        var pending = PendingWrites()
        pending.touch(1, lastWanted: 100)
        pending.renew(version(2, rank: 2).version)
        let batch = pending.takeAll()
        pending.touch(1, lastWanted: 200)
        pending.renew(version(2, rank: 5).version)
        _ = pending.restore(batch)
        let again = pending.takeAll()
        #expect(again.changes.mapValues(\.lastWanted) == [1: 200, 2: nil])
        #expect(again.changes.compactMapValues(\.renewal).mapValues(\.rank) == [2: 5])
    }

    @Test func `all changes of a row are one, whichever of them a failed batch brings back`() {
        var pending = PendingWrites()
        pending.touch(1, lastWanted: 100)
        pending.pin(1, until: 5)
        pending.recordDemand(of: 1, now: 100)
        pending.releaseDemands()
        let failed = pending.takeAll()
        pending.provePublic(1)
        pending.recordPromises(of: 1)
        pending.pin(1, until: 9)
        _ = pending.restore(failed)
        let again = pending.takeAll()
        #expect(failed.count == 1 && again.count == 1)
        let change = again.changes[1]
        #expect(change?.lastWanted == 100 && change?.pinnedUntil == 9 && change?.isProvenPublic == true)
        #expect(change?.demand != nil && change?.promises != nil && change?.renewal == nil)
    }

    @Test func `what a failed batch says of a row, and nothing newer says, comes back`() {
        var pending = PendingWrites()
        pending.recordPromises(of: 1)
        pending.renew(version(2, rank: 7).version)
        _ = pending.remove(version(3).version)
        let failed = pending.takeAll()
        for id: Int64 in 1...2 { pending.pin(id, until: 9) }
        _ = pending.restore(failed)
        let again = pending.takeAll()
        #expect(again.changes[1]?.promises != nil && again.changes[2]?.renewal?.rank == 7)
        #expect(again.changes.values.allSatisfy { $0.pinnedUntil == 9 } && again.changes.count == 2)
        #expect(again.removals == [3], "a row that was to go still goes")
    }

    @Test func `chains, removals and changes share the bytes of a batch, which is never empty`() {
        var pending = PendingWrites()
        for id: Int64 in 1...3 { pending.establish(id) }
        for seed in 4...5 { _ = pending.remove(version(seed).version) }
        for id: Int64 in 6...9 { pending.pin(id, until: 5) }
        let (update, removal) = (PendingWrites.LogBytes.update, PendingWrites.LogBytes.removal)
        let sizes = [1, 2 * update + removal - 1, removal, 1, update]
        let batches = sizes.map { pending.takeBatch(bytesMax: $0) }
        #expect(batches.map(\.established.count) == [1, 2, 0, 0, 0])
        #expect(batches.map(\.removals.count) == [0, 0, 1, 1, 0])
        // What no removal takes is left to changes.
        #expect(batches.map(\.changes.count) == [0, 3, 0, 0, 1])
    }

    @Test func `removals that make room leave out the rows of the batch, and count until they are written`() {
        var pending = PendingWrites()
        for seed in 1...4 { _ = pending.remove(version(seed).version) }
        let batch = pending.takeRemovals(max: 10, except: [1, 2])
        #expect(batch.removals == [3, 4] && pending.removals == [1, 2])
        #expect(pending.count == 4)
        pending.written(batch)
        let next = pending.takeRemovals(max: 1, except: [])
        #expect(next.count == 1 && pending.count == 2)
    }

    @Test func `a version that takes the number of another row inherits nothing that waits for it`() {
        var pending = PendingWrites()
        _ = pending.remove(version(1).version)
        pending.pin(2, until: 5)
        for id: Int64 in 1...2 { pending.forget(id) }
        let batch = pending.takeAll()
        #expect(batch.isEmpty && pending.count == 0)
    }

    @Test func `another object of a version goes to its insertion or renewal, and makes neither`() {
        var pending = PendingWrites()
        let (one, body) = version(1)
        pending.insert(one, body: body)
        pending.renew(version(2).version)
        pending.pin(3, until: 5)
        for seed in 1...4 { pending.replace(version(seed, rank: 90 + Int64(seed)).version) }
        let batch = pending.takeAll()
        #expect(batch.insertions.map(\.version.rank) == [91])
        #expect(batch.changes.compactMapValues(\.renewal).mapValues(\.rank) == [2: 92])
        #expect(batch.count == 3)
    }

    @Test func `a borrowed version whose row exists already waits no more`() {
        var pending = PendingWrites()
        let (one, body) = version(1)
        _ = pending.borrow(one, body: body)
        let isDropped = [pending.drop(one), pending.drop(one)]
        #expect(isDropped == [true, false])
        #expect(pending.count == 0 && pending.isEmpty)
    }

    @Test func `many that come and go between two batches take no other's place`() {
        var pending = PendingWrites()
        let many = (1...120).map { version($0) }
        for (version, body) in many.prefix(100) { pending.insert(version, body: body) }
        let ten = 10 * PendingWrites.LogBytes.insertion(many[0].version)
        let first = pending.takeBatch(bytesMax: ten)
        #expect(first.insertions.count == 10)
        for (version, _) in many[10..<98] { _ = pending.remove(version) }
        for (version, body) in many[100...] { pending.insert(version, body: body) }
        let rest = pending.takeAll()
        #expect(rest.insertions.map(\.version.id) == Array(99...120))
    }

    @Test func `a renewal writes the time and the holder counts of its row itself, and nothing else`() {
        var pending = PendingWrites()
        let noted: [(inout PendingWrites) -> Void] = [
            { $0.touch(1, lastWanted: 100) }, { $0.recordDemand(of: 1, now: 100) }, { $0.releaseDemands() },
        ]
        pending.pin(1, until: 5)
        for note in noted { note(&pending) }
        pending.renew(version(1, rank: 9).version)
        for note in noted { note(&pending) }
        let change = pending.takeAll().changes[1]
        #expect(change?.renewal?.rank == 9 && change?.pinnedUntil == 5)
        #expect(change?.lastWanted == nil && change?.demand == nil)
    }

    @Test(arguments: [(159, false), (160, true), (99, true)])
    func `holder counts are due once a minute, and once a clock was set back`(now: Int, isDue: Bool) {
        var pending = PendingWrites()
        pending.recordDemand(of: 1, now: 100)
        pending.recordDemand(of: 2, now: 150)
        pending.releaseDemands(now: now)
        let rows = pending.takeAll().changes.keys.sorted()
        #expect(rows == (isDue ? [1, 2] : []))
    }

    @Test func `a pin goes with the row that is still to be made, or after it`() {
        var pending = PendingWrites()
        let (one, body) = version(1)
        pending.insert(one, body: body)
        pending.pin(one.id, until: 5)
        let first = pending.takeAll()
        #expect(first.insertions.count == 1 && first.changes.isEmpty)
        pending.pin(one.id, until: 6)
        let second = pending.takeAll()
        #expect(second.changes.mapValues(\.pinnedUntil) == [1: 6])
    }

    @Test func `a failed batch comes back with its pins, but for those that changed or whose row went`() {
        var pending = PendingWrites()
        let versions = (1...3).map { version($0).version }
        for version in versions { pending.pin(version.id, until: 5) }
        let batch = pending.takeAll()
        pending.pin(versions[0].id, until: 0)
        _ = pending.remove(versions[1])
        _ = pending.restore(batch)
        let again = pending.takeAll()
        #expect(again.changes.mapValues(\.pinnedUntil) == [1: 0, 3: 5])
        #expect(again.removals == [2])
    }

    @Test func `a proof goes with its row or after it, and comes back with a failed batch`() {
        var pending = PendingWrites()
        let (one, body) = version(1)
        pending.insert(one, body: body)
        pending.provePublic(1)
        for id: Int64 in 2...3 { pending.provePublic(id) }
        let first = pending.takeAll()
        #expect(first.changes.mapValues(\.isProvenPublic) == [2: true, 3: true] && first.count == 3)
        _ = pending.remove(version(2).version)
        _ = pending.restore(first)
        let again = pending.takeAll()
        #expect(again.changes.mapValues(\.isProvenPublic) == [3: true] && again.removals == [2])
    }

    @Test func `what is just being written still counts as not on disk`() {
        var pending = PendingWrites()
        let (one, body) = version(1)
        pending.insert(one, body: body)
        let batch = pending.takeAll()
        #expect(pending.count == 1)
        pending.written(batch)
        #expect(pending.count == 0)
        pending.touch(2, lastWanted: 5)
        let failed = pending.takeAll()
        _ = pending.restore(failed)
        #expect(pending.count == 1)
    }
}

extension PendingWrites {
    /// Takes everything that is pending.
    fileprivate mutating func takeAll() -> Batch { takeBatch(bytesMax: .max) }
}
