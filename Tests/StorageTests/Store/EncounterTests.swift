import TestSupport
import Testing

@testable import Dictionaries
@testable import Storage

/// An encounter ends by what the client holds and by what the chain has.
@Suite(.timeLimit(.minutes(40))) struct EncounterTests {
    private let folder: StoreFolder
    private let store: DictionaryStore
    private let held = sampleBody(1)
    private let next = sampleBody(2)
    private let last = sampleBody(3)

    init() throws {
        folder = try StoreFolder()
        store = try .open(folder.database)
    }

    private func outcome(
        of body: Body, url: String = "/feed", now: Int = 1010, isVersionElsewhere: Bool = false,
        _ change: (inout Encounter) -> Void = { _ in }
    ) -> String {
        var encounter = Encounter(
            digest: body.digest, key: VersionKey(chain: feedChain, url: url, variant: ""))
        encounter.lifeSeconds = 600
        change(&encounter)
        let outcome = encounter.outcome(
            in: store.reader(), now: now, isVersionElsewhere: isVersionElsewhere)
        return switch outcome {
        case .newest: "newest"
        case .admission: "admission"
        case .elsewhere: "elsewhere"
        case .nothing: "nothing"
        }
    }

    @Test func `a client that holds nothing has every body admitted`() {
        #expect(outcome(of: next) == "admission")
    }

    @Test func `the newest body is offered as it is, unless its tag or its head is another`() {
        _ = store.admit(held, maxAge: 10_000)
        #expect(outcome(of: held) { $0.isNewest = true } == "newest")
        #expect(outcome(of: held) == "admission", "nobody has compared it")
        #expect(outcome(of: held) { ($0.isNewest, $0.etag) = (true, "x") } == "admission")
        #expect(outcome(of: held) { ($0.isNewest, $0.head) = (true, [1]) } == "admission")
    }

    @Test func `a client with a fresh version gains nothing by another, until the body returns`() {
        let version = store.admit(held, maxAge: 10_000)
        #expect(outcome(of: next) { $0.held = version } == "nothing")
        #expect(outcome(of: next) { $0.held = version } == "admission", "a body that returns was noted")
        #expect(outcome(of: last) { $0.held = version } == "nothing")
    }

    @Test func `half of its life later it is offered another, and so is a client whose deltas are long`() {
        let version = store.admit(held, maxAge: 10_000)
        #expect(outcome(of: next, now: 1299) { $0.held = version } == "nothing")
        #expect(outcome(of: last, now: 1300) { $0.held = version } == "admission")
        #expect(
            outcome(of: last) { ($0.held, $0.deltaBytes) = (version, 900) } == "admission",
            "no delta to compare with")
        version.recordDelta(bytes: 100)
        // Twice the length of a fresh delta, and 64 bytes that any response takes.
        let other = sampleBody(4)
        #expect(outcome(of: other) { ($0.held, $0.deltaBytes) = (version, 264) } == "nothing")
        #expect(outcome(of: sampleBody(5)) { ($0.held, $0.deltaBytes) = (version, 265) } == "admission")
    }

    @Test func `what other nodes or other clients wait for is admitted whatever this client holds`() {
        let version = store.admit(held, maxAge: 10_000)
        #expect(outcome(of: next, isVersionElsewhere: true) { $0.held = version } == "admission")
        #expect(outcome(of: last) { ($0.held, $0.isAlwaysTaken) = (version, true) } == "admission")
    }

    @Test func `a body that the chain has from another URL costs nothing to offer`() {
        let version = store.admit(held, maxAge: 10_000)
        _ = store.admit(next, url: "/feed/2", maxAge: 10_000)
        #expect(outcome(of: next) { $0.held = version } == "elsewhere")
        #expect(outcome(of: next, url: "/feed/2") { $0.held = version } == "admission")
    }
}
