import Primitives
import Testing

@testable import Dictionaries
@testable import Storage

@Suite struct StoreSlotTests {
    @Test func `copies being admitted are bounded by the memory and refused beyond it`() throws {
        let store = try DictionaryStore.open(":memory:", memoryBytes: 10_000)
        let first = try store.slot(url: "/1", bytes: 6000).get()
        #expect(store.slot(url: "/2", bytes: 4001).refusal == .memory)
        let second = store.slot(url: "/2", bytes: 4000)
        #expect(second.refusal == nil)
        first.release()
        first.release()
        #expect(store.statistics.memoryBytes == 4000)
        #expect(store.statistics.refusals == [.memory: 1])
    }

    @Test func `chains in probation leave half of the memory to the others`() throws {
        let store = try DictionaryStore.open(":memory:", memoryBytes: 10_000)
        #expect(store.slot(url: "/1", bytes: 5001, isImplied: true).refusal == .memory)
        let first = try store.slot(url: "/1", bytes: 5000, isImplied: true).get()
        #expect(store.slot(url: "/2", bytes: 1, isImplied: true).refusal == .memory)
        #expect(store.slot(url: "/2", bytes: 5000).refusal == nil)
        first.release()
    }

    @Test func `a slot that is dropped gives its place back`() throws {
        let store = try DictionaryStore.open(":memory:", memoryBytes: 10_000)
        #expect(store.slot(bytes: 10_000).refusal == nil)
        #expect(store.statistics.memoryBytes == 0)
        #expect(store.slot(bytes: 10_000).refusal == nil)
    }

    @Test func `a slot of unknown length grows until there is no place`() throws {
        let store = try DictionaryStore.open(":memory:", memoryBytes: 1_000_000)
        let slot = try store.slot(bytes: nil).get()
        #expect(slot.extend(to: 1))
        #expect(slot.extend(to: 999_999))
        #expect(slot.extend(to: 1_000_000))
        #expect(!slot.extend(to: 1_000_001))
        #expect(store.statistics.memoryBytes == 1_000_000)
        slot.release()
        #expect(store.statistics.memoryBytes == 0)
        #expect(!slot.extend(to: 1))
    }

    @Test func `a copy that began before a purge of its kind is not admitted, and one that began later is`()
        throws
    {
        let store = try DictionaryStore.open(":memory:")
        let slots = try [
            store.slot(url: "/feed", bytes: nil).get(), store.slot(url: "/other", bytes: nil).get(),
        ]
        let purge = Purge(PurgeOrder(path: "/feed")) { _, _, _ in false }
        #expect(store.upkeep.purge([purge], isDryRun: true).versions.isEmpty)
        #expect(store.upkeep.purge([purge]).versions.isEmpty)
        let other = ChainKey(authority: "api.example", match: "/other")
        func admit(_ chain: ChainKey, _ slot: AdmissionSlot) throws(AdmissionRefusal) {
            let key = VersionKey(chain: chain, url: chain.match, variant: "")
            try store.admission.admit(
                VersionCandidate(sampleBody(1), key: key, policy: AdmissionPolicy()), slot: slot, now: 1000)
        }
        #expect(throws: AdmissionRefusal.purged) { try admit(feedChain, slots[0]) }
        #expect(store.statistics.versions == 0 && store.statistics.refusals == [.purged: 1])
        #expect(!slots[0].extend(to: 1), "it has given its place back")
        try admit(other, slots[1])
        try admit(feedChain, store.slot(url: "/feed", bytes: nil).get())
        #expect(store.statistics.versions == 2)
    }

    @Test func `the memory of a copy that a purge refuses is free for others`() throws {
        let store = try DictionaryStore.open(":memory:", memoryBytes: 10_000)
        let slot = try store.slot(url: "/feed", bytes: 6000).get()
        #expect(store.upkeep.purge([Purge(PurgeOrder(path: "/feed")) { _, _, _ in false }]).versions.isEmpty)
        let candidate = VersionCandidate(
            sampleBody(1, count: 6000), key: VersionKey(chain: feedChain, url: "/feed", variant: ""),
            policy: AdmissionPolicy())
        #expect(throws: AdmissionRefusal.purged) {
            try store.admission.admit(candidate, slot: slot, now: 1000)
        }
        #expect(store.slot(url: "/other", bytes: 6000).refusal == nil)
    }

    @Test func `a copy that began before a purge is not admitted, however many purges followed`() throws {
        let store = try DictionaryStore.open(":memory:")
        let slot = try store.slot(url: "/feed", bytes: nil).get()
        let paths = ["/feed"] + (0..<300).map { "/other/\($0)" }
        for path in paths { _ = store.upkeep.purge([Purge(PurgeOrder(path: path)) { _, _, _ in false }]) }
        let key = VersionKey(chain: feedChain, url: "/feed", variant: "")
        #expect(throws: AdmissionRefusal.purged) {
            try store.admission.admit(
                VersionCandidate(sampleBody(1), key: key, policy: AdmissionPolicy()), slot: slot, now: 1000)
        }
    }

    @Test
    func `a purge reaches a learned dictionary that began before it was heeded, though the order is older`()
        throws
    {
        let store = try DictionaryStore.open(":memory:")
        let chain = ChainKey(authority: "api.example", match: "/items/*")
        func candidate(_ number: Int) -> VersionCandidate {
            VersionCandidate(
                sampleBody(number), key: VersionKey(learnedFor: chain), policy: AdmissionPolicy())
        }
        let begunAt = SystemClock.unixMicroseconds
        let present = try store.admission.admit(candidate(1), now: 1000)
        // Another node gave the order an hour ago.
        let order = Purge(PurgeOrder(path: "/items/7"), rankMax: begunAt - 3_600_000_000) { _, _, _ in false }
        let purged = store.upkeep.purge([order]).versions.map(\.id)
        #expect(purged == [present.id])
        #expect(throws: AdmissionRefusal.purged) {
            try store.admission.admit(candidate(2), begunAt: begunAt, now: 1000)
        }
        #expect(throws: Never.self) {
            try store.admission.admit(candidate(3), begunAt: SystemClock.unixMicroseconds, now: 1000)
        }
    }

    @Test(arguments: [false, true])
    func `a body of unknown length may be as large as one of known length`(isImplied: Bool) throws {
        for bytes in [100_000, 790_000, 800_000, 1_000_000, 1_000_001, 5_000_000] {
            let store = try DictionaryStore.open(":memory:", maxBytes: 4_000_000)
            let known = store.slot(url: "/1", bytes: bytes, isImplied: isImplied).refusal
            let slot = try store.slot(url: "/2", bytes: nil, isImplied: isImplied).get()
            #expect(slot.extend(to: bytes) == (known == nil), "\(bytes)")
            #expect(store.statistics.refusals == (known == nil ? [:] : [.size: 2]), "\(bytes)")
        }
    }

    @Test func `a private body of unknown length keeps to the budget of private versions`() throws {
        let store = try PrivateStore(":memory:", privateBytesMax: 1_000_000)
        let slot = try store.store.slot(chain: try store.chain("user"), bytes: nil).get()
        #expect(slot.extend(to: 250_000) && !slot.extend(to: 250_001))
    }

    @Test(arguments: [false, true])
    func `a copy that grows gets the memory that one of known length gets`(isImplied: Bool) throws {
        for bytes in stride(from: 100_000, through: 1_100_000, by: 100_000) {
            let store = try DictionaryStore.open(":memory:", memoryBytes: 1_000_000)
            let isGranted = store.slot(bytes: bytes, isImplied: isImplied).isGranted
            let slot = try store.slot(bytes: nil, isImplied: isImplied).get()
            #expect(slot.extend(to: bytes) == isGranted, "\(bytes)")
            #expect(store.statistics.refusals == (isGranted ? [:] : [.memory: 2]), "\(bytes)")
        }
    }

    @Test func `a body too large for the store has no slot`() throws {
        let store = try DictionaryStore.open(":memory:", maxBytes: 4_000_000)
        #expect(store.slot(bytes: 1_000_001).refusal == .size)
        #expect(store.slot(bytes: 1_000_000).refusal == nil)
    }

    @Test
    func `a body too large for the share of chains in probation has no slot until its chain is established`()
        throws
    {
        let store = try DictionaryStore.open(":memory:", maxBytes: 4_000_000)
        #expect(store.slot(bytes: 800_000, isImplied: true).refusal == .size)
        #expect(store.slot(bytes: 790_000, isImplied: true).refusal == nil)
        store.demand.advertised(store.admit(sampleBody(1), isImplied: true), now: 1000)
        #expect(store.slot(bytes: 800_000, isImplied: true).refusal == nil)
    }

    @Test(arguments: [(4096, false), (4097, true)])
    func `names beyond four kilobytes have no slot`(count: Int, isRefused: Bool) throws {
        let store = try DictionaryStore.open(":memory:")
        let url = "/" + String(repeating: "u", count: count - 6)
        let refusal = store.slot(url: url, variant: "1:a=1", bytes: 1).refusal
        #expect(refusal == (isRefused ? .names : nil))
    }

    @Test func `of one URL and variant one copy is admitted at a time`() throws {
        let store = try DictionaryStore.open(":memory:")
        let slot = try store.slot(bytes: 1000).get()
        #expect(store.slot(bytes: 1000).refusal == .copying)
        #expect(store.slot(variant: "1:a=1;", bytes: 1000).refusal == nil)
        #expect(store.slot(url: "/feed?1", bytes: 1000).refusal == nil)
        slot.release()
        #expect(store.slot(bytes: 1000).refusal == nil)
        #expect(store.statistics.refusals == [.copying: 1])
    }

    @Test func `an admission ends the copy and counts the body instead of it`() throws {
        let store = try DictionaryStore.open(":memory:")
        let slot = try store.slot(bytes: 5000).get()
        try store.admission.admit(
            VersionCandidate(
                sampleBody(1), key: VersionKey(chain: feedChain, url: "/feed", variant: ""),
                policy: AdmissionPolicy()), slot: slot, now: 1000)
        #expect(store.statistics.memoryBytes == 1256)
        #expect(store.slot(bytes: 1000).refusal == nil)
    }

    @Test func `a hundred whole bodies that are one version need one slot`() throws {
        let store = try DictionaryStore.open(":memory:", memoryBytes: 3000)
        for _ in 0..<100 { store.admit(sampleBody(1)) }
        #expect(store.statistics.admissions == 1)
        #expect(store.statistics.returns == 99)
        #expect(store.statistics.refusals.isEmpty)
        #expect(store.statistics.memoryBytes == 1256)
    }
}

extension Result where Failure == AdmissionRefusal {
    /// The reason why there is no slot.
    var refusal: AdmissionRefusal? {
        if case .failure(let refusal) = self { refusal } else { nil }
    }
}
