internal import CLinux
internal import Dispatch
internal import Glibc

/// The handle of one event loop, which any thread may hold.
///
/// What the loop owns is its `Core`, which is not Sendable: the only way to it is the parameter of a job or of a
/// handler's call, so the compiler proves that nothing else touches it.
package final class EventLoop: Sendable {
    /// Work that runs on the loop.
    package typealias Job = @Sendable (Core) -> Void

    private let wakeup = Descriptor(owning: CLinux_eventfd())
    private let inbox = Guarded<[Job]>([])
    private let queue: DispatchQueue
    private let ended = DispatchGroup()

    /// A loop that runs from now on, on a serial Dispatch queue of its own whose one work item waits in epoll.
    package init(label: String) {
        queue = DispatchQueue(label: label)
        queue.async(group: ended) { self.run() }
    }

    /// Runs `job` on the loop, in the order of the calls.
    ///
    /// From any thread; never blocks.
    package func execute(_ job: @escaping Job) {
        let isFirst = inbox.withLock { jobs in
            jobs.append(job)
            return jobs.count == 1
        }
        // One wake-up serves all the jobs of a batch.
        if isFirst {
            var one: UInt64 = 1
            // Safe: eight bytes of a local variable; a full counter (EAGAIN) already wakes the loop.
            _ = unsafe write(wakeup.raw, &one, 8)
        }
    }

    /// Ends the loop once the jobs before this one have run.
    ///
    /// What it still watches is let go.
    package func stop() {
        execute { $0.stop() }
    }

    /// Waits until the loop has ended.
    ///
    /// Not from a loop.
    package func join() {
        ended.wait()
    }

    /// Waits until the loop has ended, at most so long; returns whether it has.
    package func join(milliseconds: Int) -> Bool {
        ended.wait(timeout: .now() + .milliseconds(milliseconds)) == .success
    }

    private func run() {
        let core = Core(loop: self)
        core.add(WakeUp(self), descriptor: wakeup.raw, events: CLinux_IN)
        core.spin()
    }

    private func takeJobs() -> [Job] {
        inbox.withLock { jobs in
            defer { jobs = [] }
            return jobs
        }
    }

    private final class WakeUp: Handler {
        let loop: EventLoop

        init(_ loop: EventLoop) {
            self.loop = loop
        }

        func ready(_ events: Readiness, _ core: Core) {
            var count: UInt64 = 0
            // Safe: eight bytes into a local variable: what an eventfd hands out.
            _ = unsafe read(loop.wakeup.raw, &count, 8)
            for job in loop.takeJobs() { job(core) }
        }
    }

    /// What one loop owns: epoll, the handlers, their deadlines and the buffer that every read goes through.
    ///
    /// Not Sendable; lives and dies on the loop's queue.
    package final class Core {
        /// The handle of this loop.
        package let loop: EventLoop
        /// Where every read of this loop puts its bytes; valid until the handler that read returns.
        package let readBuffer = ReadBuffer(capacity: 64 * 1024)
        /// The clock as of these events: monotonic milliseconds.
        package var now: Int64 { clock }

        /// The current time as a Date field has it, made once a second.
        package var date: String {
            let second = CLinux_unix_milliseconds() / 1000
            if second != dateSecond {
                dateSecond = second
                dateText = String(HTTPDate.bytes(unixSeconds: second).span)
            }
            return dateText
        }

        // Not to be seen from outside: the compiler proves then that its many reads meet no write.
        private var clock: Int64 = CLinux_monotonic_nanoseconds() / 1_000_000
        private var dateSecond: Int64 = 0
        private var dateText = ""
        private let epoll = Descriptor(owning: CLinux_epoll_create())
        private var slots: [Slot] = []
        /// As many as slots, and apart from them: to change a number of a slot lets nothing go.
        private var handlers: [(any Handler)?] = []
        private var freeSlots: [Int32] = []
        private var wheel: DeadlineWheel
        private var attending: [Token] = []
        private var attended: [Token] = []
        private var isRunning = true

        fileprivate init(loop: EventLoop) {
            self.loop = loop
            wheel = DeadlineWheel(now: clock)
        }
    }
}

// MARK: - Handlers

extension EventLoop.Core {
    private struct Slot {
        var generation: UInt32 = 0
        var deadline: Int64 = .max
        var checkAt: Int64 = .max
        var isAttended = false
    }

    /// Gives `handler` a token without a descriptor: for deadlines, attention and answers from other threads.
    @discardableResult
    package func add(_ handler: any Handler) -> Token {
        let index: Int
        if let free = freeSlots.popLast() {
            index = Int(free)
        } else {
            index = slots.count
            slots.append(Slot())
            handlers.append(nil)
        }
        handlers[index] = handler
        return Token(index: UInt32(truncatingIfNeeded: index), generation: slots[index].generation)
    }

    /// Gives `handler` a token and has epoll report `events` of `descriptor` to it.
    @discardableResult
    package func add(_ handler: any Handler, descriptor: Int32, events: UInt32) -> Token {
        let token = add(handler)
        CLinux_epoll_ctl(epoll.raw, CLinux_ADD, descriptor, events, token.rawValue)
        return token
    }

    /// Lets the handler go.
    ///
    /// Closing its descriptor is the owner's part, and takes it from epoll.
    package func remove(_ token: Token) {
        guard let index = index(of: token) else { return }
        handlers[index] = nil
        slots[index].generation &+= 1
        slots[index].deadline = .max
        slots[index].checkAt = .max
        slots[index].isAttended = false
        freeSlots.append(Int32(truncatingIfNeeded: index))
    }

    /// Stops reports for a descriptor that stays open.
    package func unwatch(_ descriptor: Int32) {
        CLinux_epoll_ctl(epoll.raw, CLinux_DEL, descriptor, 0, 0)
    }

    /// The handler of `token`, nil when it has gone: for results that come back from other threads.
    package func handler<H: Handler>(_ token: Token, as type: H.Type) -> H? {
        index(of: token).flatMap { handlers[$0] as? H }
    }

    /// Calls the handler's `attend` once, after the events of this batch.
    package func attend(_ token: Token) {
        guard let index = index(of: token), !slots[index].isAttended else { return }
        slots[index].isAttended = true
        attending.append(token)
    }

    /// Calls the handler's `expired` at `deadline` (monotonic milliseconds) or a few milliseconds later; nil
    /// takes the deadline back.
    ///
    /// One a handler: the last call counts.
    package func setDeadline(_ token: Token, _ deadline: Int64?) {
        guard let index = index(of: token) else { return }
        let deadline = deadline ?? .max
        slots[index].deadline = deadline
        // Moving a deadline back costs nothing: the wheel finds out when it comes round.
        if deadline < slots[index].checkAt {
            slots[index].checkAt = wheel.insert(token, at: deadline)
        }
    }

    private func index(of token: Token) -> Int? {
        let index = Int(token.index)
        guard index < slots.count, slots[index].generation == token.generation else { return nil }
        return index
    }
}

// MARK: - The loop itself

extension EventLoop.Core {
    func stop() {
        isRunning = false
    }

    fileprivate func spin() {
        var events = [CLinux_event](repeating: CLinux_event(), count: 256)
        var fullBatches = 0
        while isRunning {
            let timeout = attending.isEmpty ? wheel.millisecondsToNext(now: now) : 0
            // Safe: the callee writes at most 256 events.
            let count = Int(unsafe CLinux_epoll_wait(epoll.raw, &events, 256, timeout))
            lookAtClock()
            let polledAt = now
            for position in 0..<max(0, count) {
                if position % Self.clockInterval == Self.clockInterval - 1 { lookAtClock() }
                dispatch(events[position])
            }
            attendAll()
            // After a stall more events wait than one batch holds, and none of their handlers is late before its turn.
            fullBatches = count == events.count ? fullBatches + 1 : 0
            if fullBatches % Self.fullBatchesMax == 0 { expireAll(upTo: polledAt) }
        }
        handlers = []
        slots = []
    }

    /// So many handlers may see the same time: what they begin must not have its time taken by those before them.
    private static let clockInterval = 16
    /// So many full batches may come one after the other before a deadline counts.
    private static let fullBatchesMax = 16

    private func lookAtClock() {
        clock = CLinux_monotonic_nanoseconds() / 1_000_000
    }

    private func dispatch(_ event: CLinux_event) {
        // A handler that went earlier in this batch is not found any more, whatever its descriptor is now.
        guard let index = index(of: Token(rawValue: event.token)) else { return }
        handlers[index]?.ready(Readiness(rawValue: event.events), self)
    }

    private func attendAll() {
        // What a handler asks for while it is attended to waits for the next batch, so that nobody starves.
        // Two arrays by turns: neither is made anew for each batch.
        swap(&attending, &attended)
        for (position, token) in attended.enumerated() {
            if position % Self.clockInterval == 0 { lookAtClock() }
            guard let index = index(of: token) else { continue }
            slots[index].isAttended = false
            handlers[index]?.attend(self)
        }
        attended.removeAll(keepingCapacity: true)
    }

    /// Calls those whose time had come when the events were looked at: what came since may be what they wait for.
    private func expireAll(upTo moment: Int64) {
        for token in wheel.take(upTo: moment) {
            // A token that is to be looked at later has another place in the wheel: this one is out of date.
            guard let index = index(of: token), slots[index].checkAt <= moment else { continue }
            slots[index].checkAt = .max
            if slots[index].deadline <= moment {
                slots[index].deadline = .max
                handlers[index]?.expired(self)
            } else if slots[index].deadline != .max {
                slots[index].checkAt = wheel.insert(token, at: slots[index].deadline)
            }
        }
    }
}
