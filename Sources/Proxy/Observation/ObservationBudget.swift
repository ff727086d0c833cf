/// The processor time for observing, and the share of clients that it suffices for; a value.
///
/// Each client is observed completely or not at all, so that its returns are seen. If time runs short, half of the
/// observed clients are left out; they come back once there is plenty.
struct ObservationBudget: Sendable {
    /// The most halvings: one client in 4,096 is observed then.
    static let halvingsMax = 12
    /// The time between two changes of the share, in nanoseconds.
    static let periodNanoseconds: Int64 = 10_000_000_000
    /// The debt beyond which no work begins, in nanoseconds of allowance.
    private static let debtNanoseconds: Int64 = 2_000_000_000

    /// The clients are those whose number is a multiple of two to this power.
    private(set) var halvings = 0
    /// The processor time since the start.
    private(set) var spentNanoseconds: Int64 = 0
    /// The time in which routes were observed.
    var observing: Stopwatch
    var allowance: ProcessorAllowance
    private var periodBegan: Int64
    private var spentInPeriod: Int64 = 0

    /// The allowance that is kept is that of a minute, so that a burst after silence is observed.
    private static let keptNanoseconds: Int64 = 60_000_000_000

    init(cpuShare: Double, now: Int64) {
        allowance = ProcessorAllowance(cpuShare: cpuShare, keptNanoseconds: Self.keptNanoseconds)
        periodBegan = now
        observing = Stopwatch(now: now)
    }

    /// Returns the processor time as a share of the time of observing.
    func cpuUsed(now: Int64) -> Double {
        Double(spentNanoseconds) / Double(max(1, observing.nanoseconds(now: now)))
    }

    var clientShare: Double { 1 / Double(1 << halvings) }

    func observes(_ client: UInt64) -> Bool { client & ((1 << UInt64(halvings)) - 1) == 0 }

    /// Returns true if work may begin; a little debt is allowed, since the share of clients follows.
    func mayBegin(now: Int64) -> Bool {
        allowance.owes(lessThan: Self.debtNanoseconds, now: now)
    }

    mutating func charge(_ nanoseconds: Int64, now: Int64) {
        allowance.charge(nanoseconds, now: now)
        spentNanoseconds += nanoseconds
        spentInPeriod += nanoseconds
        renew(now: now)
    }

    /// Changes the share of clients once per period.
    ///
    /// Requests call it as well as work, because work needs a client that is observed.
    mutating func renew(now: Int64) {
        guard now - periodBegan >= Self.periodNanoseconds else { return }
        let used = Double(spentInPeriod) / Double(now - periodBegan)
        if used > allowance.cpuShare {
            halvings = min(halvings + 1, Self.halvingsMax)
        } else if used < allowance.cpuShare / 4 {
            halvings = max(halvings - 1, 0)
        }
        (periodBegan, spentInPeriod) = (now, 0)
    }
}
