internal import Dispatch
internal import Glibc
internal import Primitives
import Testing

@testable import HTTP

struct EventLoopTests {
    @Test func `jobs from many threads all run, each thread's in its order`() {
        let loop = EventLoop(label: "test.loop")
        let seen = Guarded<[[Int]]>(Array(repeating: [], count: 8))
        let done = DispatchSemaphore(value: 0)
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for number in 0..<500 {
                loop.execute { _ in seen.withLock { $0[thread].append(number) } }
            }
        }
        loop.execute { _ in done.signal() }
        #expect(done.wait(timeout: .now() + .seconds(60)) == .success)
        #expect(seen.withLock { $0 } == Array(repeating: Array(0..<500), count: 8))
        loop.stop()
        loop.join()
    }

    @Test func `a job that a job asks for runs too`() {
        let loop = EventLoop(label: "test.loop")
        let journal = Journal()
        loop.execute { core in
            journal.note("first")
            core.loop.execute { _ in journal.note("second") }
            journal.note("still first")
        }
        #expect(journal.wait { $0.count == 3 } == ["first", "still first", "second"])
        loop.stop()
        loop.join()
    }

    @Test func `a job that a handler asks for in its attention runs, though no other event comes`() {
        let loop = EventLoop(label: "test.loop")
        let journal = Journal()
        loop.execute { core in core.attend(core.add(Asker(journal))) }
        #expect(journal.wait { $0.count == 2 } == ["attention", "job"])
        loop.stop()
        loop.join()
    }

    @Test func `a turn takes as long as everything that is done in it`() {
        let loop = EventLoop(label: "test.loop")
        let longest = Guarded(0)
        let done = DispatchSemaphore(value: 0)
        loop.execute { core in
            core.turnEnded = { microseconds in longest.withLock { $0 = max($0, microseconds) } }
        }
        // Two jobs of one turn, since the first one asks for the second.
        loop.execute { core in
            usleep(20_000)
            core.loop.execute { core in
                usleep(20_000)
                core.loop.execute { core in core.loop.execute { _ in done.signal() } }
            }
        }
        #expect(done.wait(timeout: .now() + .seconds(60)) == .success)
        #expect(longest.withLock { $0 } >= 40_000)
        loop.stop()
        loop.join()
    }

    private final class Asker: Handler {
        private let journal: Journal

        init(_ journal: Journal) {
            self.journal = journal
        }

        func attend(_ core: EventLoop.Core) {
            journal.note("attention")
            core.loop.execute { [journal] _ in journal.note("job") }
        }
    }

    @Test func `a loop that ends lets go of its handlers`() {
        let journal = Journal()
        let loop = EventLoop(label: "test.loop")
        loop.execute { core in _ = core.add(Alarm(journal)) }
        loop.stop()
        loop.join()
        #expect(journal.all == ["gone"])
    }

    @Test func `a token that was given back finds nobody, even when its place is taken again`() {
        let journal = Journal()
        let loop = EventLoop(label: "test.loop")
        loop.execute { core in
            let first = core.add(Alarm(journal))
            core.remove(first)
            core.remove(first)
            let second = core.add(Alarm(journal))
            if core.handler(first, as: Alarm.self) == nil { journal.note("first is unknown") }
            if core.handler(second, as: Alarm.self) != nil { journal.note("second is known") }
            core.setDeadline(first, core.now)
            core.attend(first)
            core.setDeadline(.none, core.now)
            core.setDeadline(second, core.now + 30)
        }
        #expect(
            journal.wait { $0.contains("expired") } == [
                "gone", "first is unknown", "second is known", "expired",
            ])
        loop.stop()
        loop.join()
    }

    @Test func `of several deadlines of a handler the last one counts`() {
        let journal = Journal()
        let loop = EventLoop(label: "test.loop")
        loop.execute { core in
            let later = core.add(Alarm(journal, name: "moved back"))
            core.setDeadline(later, core.now + 8)
            // Far behind the other, since a loop that is late takes both in the order of their first places.
            core.setDeadline(later, core.now + 3_000)
            let never = core.add(Alarm(journal, name: "taken back"))
            core.setDeadline(never, core.now + 8)
            core.setDeadline(never, nil)
            let sooner = core.add(Alarm(journal, name: "moved forward"))
            core.setDeadline(sooner, core.now + 100_000)
            core.setDeadline(sooner, core.now + 30)
        }
        #expect(journal.wait { $0.count == 2 } == ["moved forward expired", "moved back expired"])
        loop.stop()
        loop.join()
        #expect(!journal.all.contains("taken back expired"))
    }

    @Test func `what a batch does late has its whole time`() {
        let journal = Journal()
        let loop = EventLoop(label: "test.loop")
        loop.execute { core in
            core.attend(core.add(Sleeper(journal)))
            // The batch takes its time before the first call of `attend`.
            usleep(200_000)
        }
        #expect(journal.wait { !$0.isEmpty } == ["in time"])
        loop.stop()
        loop.join()
    }

    @Test func `attention comes once a batch, and again when asked for again`() {
        let journal = Journal()
        let loop = EventLoop(label: "test.loop")
        loop.execute { core in
            let token = core.add(Alarm(journal))
            core.attend(token)
            core.attend(token)
            // Its own job runs in the same batch, and the job of that one in the next.
            core.loop.execute { core in core.loop.execute { core in core.attend(token) } }
        }
        #expect(journal.wait { $0.count == 2 } == ["attended", "attended"])
        loop.stop()
        loop.join()
        #expect(journal.all.filter { $0 == "attended" }.count == 2)
    }

    private static func pair() -> [Int32]? {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        // Safe: two numbers into an array of two.
        return unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 ? ends : nil
    }

    @Test func `a handler whose descriptor was closed hears nothing of the next one with its number`() throws
    {
        let journal = Journal()
        let loop = EventLoop(label: "test.loop")
        loop.execute { core in
            // Other tests open descriptors too, so repeat until the number comes back here.
            for _ in 0..<1000 {
                guard let ends = Self.pair() else { return }
                let token = core.add(
                    Alarm(journal, name: "old"), descriptor: ends[0], events: Readiness.edges)
                core.remove(token)
                close(ends[0])
                close(ends[1])
                guard let others = Self.pair() else { return }
                guard others[0] == ends[0] else {
                    for end in others { close(end) }
                    continue
                }
                core.add(Alarm(journal, name: "new"), descriptor: others[0], events: Readiness.edges)
                journal.note("same number")
                close(others[1])
                return
            }
        }
        let lines = journal.wait { $0.contains("new ready") }
        #expect(lines.contains("same number") && lines.contains("new ready"))
        #expect(!lines.contains("old ready"))
        loop.stop()
        loop.join()
    }
}

/// Records the loop's calls.
private final class Alarm: Handler {
    private let journal: Journal
    private let name: String

    init(_ journal: Journal, name: String = "") {
        self.journal = journal
        self.name = name
    }

    deinit { note("gone") }

    func ready(_ events: Readiness, _ core: EventLoop.Core) { note("ready") }
    func attend(_ core: EventLoop.Core) { note("attended") }
    func expired(_ core: EventLoop.Core) { note("expired") }

    private func note(_ what: String) { journal.note(name.isEmpty ? what : "\(name) \(what)") }
}

/// Sets a deadline when it is attended to, and records whether the whole time passed.
private final class Sleeper: Handler {
    private static let wait: Int64 = 100
    private let journal: Journal
    private let clock = ContinuousClock()
    private var began: ContinuousClock.Instant?

    init(_ journal: Journal) {
        self.journal = journal
    }

    func ready(_ events: Readiness, _ core: EventLoop.Core) {}

    func attend(_ core: EventLoop.Core) {
        began = clock.now
        core.setDeadline(core.add(self), core.now + Self.wait)
    }

    func expired(_ core: EventLoop.Core) {
        guard let began else { return }
        // A loop's clock counts whole milliseconds.
        let isInTime = clock.now - began >= .milliseconds(Self.wait - 1)
        journal.note(isInTime ? "in time" : "too early")
    }
}
