internal import HTTP

/// Asks every loop of the proxy for a sign of life on behalf of probes.
///
/// Confined to the loop of the admin listener, which is none of them and waits for none of them. A loop that has not
/// answered is not asked again, so that probes of a stuck loop pile up nothing.
final class LoopPulse: Handler {
    /// A loop that takes longer is stuck: a turn takes milliseconds, and a busy machine lets it wait for some more.
    static let patienceMilliseconds: Int64 = 2_000

    private struct Probe {
        let deadline: Int64
        let answer: (_ stuck: [Int]) -> Void
        /// The loops that have not answered.
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

    /// Calls `answer` with the numbers of the loops that are stuck: at once when all are known to live, else in time.
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

    /// The probes that nobody waits for any more are answered all the same: at most one for each connection.
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
