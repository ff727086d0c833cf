internal import HTTP

/// Asks every loop of the proxy for a sign of life.
///
/// Confined to the admin listener's own loop, so that it never waits for a loop that it asks. A loop that has not
/// responded is not asked again, so that probes of a stuck loop do not pile up.
final class LoopPulse: Handler {
    /// A loop that is silent for longer is stuck: a turn takes milliseconds.
    static let patienceMilliseconds: Int64 = 2_000

    private struct Probe {
        let deadline: Int64
        let answer: (_ stuck: [Int]) -> Void
        var silent: Set<Int>
    }

    private let loops: [EventLoop]
    private let core: EventLoop.Core
    private var token = Token.none
    private var asked: Set<Int> = []
    private var probes: [Probe] = []

    init(_ loops: [EventLoop], core: EventLoop.Core) {
        self.loops = loops
        self.core = core
        token = core.add(self)
    }

    /// Calls `answer` with the numbers of the stuck loops, as soon as all loops have responded or time is up.
    func probe(_ answer: @escaping (_ stuck: [Int]) -> Void) {
        let deadline = core.now + Self.patienceMilliseconds
        probes.append(Probe(deadline: deadline, answer: answer, silent: Set(loops.indices)))
        let own = core.loop
        for (number, loop) in loops.enumerated() where asked.insert(number).inserted {
            loop.execute { [token] _ in
                own.execute { core in core.handler(token, as: LoopPulse.self)?.heard(number) }
            }
        }
        setDeadline()
    }

    /// Probes of closed connections are completed too: there is at most one per connection.
    private func heard(_ number: Int) {
        asked.remove(number)
        for index in probes.indices { probes[index].silent.remove(number) }
        finish { $0.silent.isEmpty }
    }

    func expired(_ core: EventLoop.Core) {
        finish { $0.deadline <= core.now }
    }

    private func finish(where isOver: (Probe) -> Bool) {
        let over = probes.filter(isOver)
        probes.removeAll(where: isOver)
        setDeadline()
        for probe in over { probe.answer(probe.silent.sorted()) }
    }

    private func setDeadline() {
        core.setDeadline(token, probes.map(\.deadline).min())
    }
}
