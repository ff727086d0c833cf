internal import CLinux
package import Dispatch
internal import Glibc
internal import Primitives
internal import Synchronization

/// The handle of one event loop, which any thread may hold.
///
/// The loop's state is its `Core`, which is not Sendable. Only jobs and handlers get it, as a parameter, so the
/// compiler proves that nothing else touches it.
package final class EventLoop: Sendable {
    package typealias Job = @Sendable (Core) -> Void

    private let wakeup = Descriptor(owning: CLinux_eventfd())
    private let inbox = Guarded<[Job]>([])
    /// The thread of the loop while it runs, else 0.
    private let thread = Atomic<UInt>(0)
    /// True if the jobs in the inbox came first from the loop's own thread, which is awake.
    fileprivate let hasOwnJobs = Atomic<Bool>(false)
    private let queue: DispatchQueue
    private let ended = DispatchGroup()

    /// Starts a loop on its own serial Dispatch queue, whose single work item waits in epoll.
    package init(label: String) {
        queue = DispatchQueue(label: label)
        queue.async(group: ended) { self.run() }
    }

    /// Runs `job` on the loop, in the order of the calls.
    ///
    /// Callable from any thread; never blocks.
    package func execute(_ job: @escaping Job) {
        let isFirst = inbox.withLock { jobs in
            jobs.append(job)
            return jobs.count == 1
        }
        guard isFirst else { return }
        // One wake-up serves all jobs of a batch, and the loop's own thread needs none.
        if thread.load(ordering: .relaxed) == pthread_self() {
            hasOwnJobs.store(true, ordering: .relaxed)
        } else {
            var one: UInt64 = 1
            // Safe: eight bytes of a local variable; a full counter (EAGAIN) already wakes the loop.
            _ = unsafe write(wakeup.raw, &one, 8)
        }
    }

    /// Runs `work` on the loop, waits for it, and returns its result.
    ///
    /// Never call it on a loop, nor after `stop`.
    @discardableResult
    package func call<Result: Sendable>(_ work: @escaping @Sendable (Core) -> Result) -> Result? {
        let result = AwaitedValue<Result>()
        execute { core in result.give(work(core)) }
        return result.take()
    }

    /// Ends the loop after the jobs before this one.
    ///
    /// Releases all handlers.
    package func stop() {
        execute { $0.isRunning = false }
    }

    /// Waits until the loop has ended.
    ///
    /// Never call it on a loop.
    package func join() {
        ended.wait()
    }

    /// Waits at most so long until the loop has ended; returns false on time-out.
    package func join(milliseconds: Int) -> Bool {
        ended.wait(timeout: .now() + .milliseconds(milliseconds)) == .success
    }

    private func run() {
        let core = Core(loop: self)
        core.add(WakeUp(self), descriptor: wakeup.raw, events: CLinux_IN)
        thread.store(pthread_self(), ordering: .relaxed)
        core.spin()
        thread.store(0, ordering: .relaxed)
    }

    fileprivate func runJobs(_ core: Core) {
        hasOwnJobs.store(false, ordering: .relaxed)
        let jobs = inbox.withLock { exchange(&$0, with: []) }
        for job in jobs { job(core) }
    }

    private final class WakeUp: Handler {
        let loop: EventLoop

        init(_ loop: EventLoop) {
            self.loop = loop
        }

        func ready(_ events: Readiness, _ core: Core) {
            var count: UInt64 = 0
            // Safe: reads eight bytes, the size of an eventfd's counter, into a local variable.
            _ = unsafe read(loop.wakeup.raw, &count, 8)
            loop.runJobs(core)
        }
    }

    /// The state of one loop: epoll, the handlers, their deadlines and the read buffer.
    ///
    /// Not Sendable; lives on the loop's queue.
    package final class Core {
        package let loop: EventLoop
        /// The buffer of every read on this loop, valid until the handler that reads returns.
        package let readBuffer = ReadBuffer(capacity: 64 * 1024)
        /// The time of the current events in monotonic milliseconds.
        package private(set) var now: Int64 = SystemClock.monotonicNanoseconds / 1_000_000
        /// Called at the end of each turn with the microseconds that it took: the time for which everybody else has waited.
        package var turnEnded: ((_ microseconds: Int) -> Void)?

        /// The current time in the form of a Date field, updated once per second.
        package var date: String {
            let second = Int64(SystemClock.unixSeconds)
            if second != dateSecond {
                dateSecond = second
                dateText = String(HTTPDate.bytes(unixSeconds: second).span)
            }
            return dateText
        }

        private var dateSecond: Int64 = 0
        private var dateText = ""
        private let epoll = Descriptor(owning: CLinux_epoll_create())
        private var table: HandlerTable
        fileprivate var isRunning = true

        fileprivate init(loop: EventLoop) {
            self.loop = loop
            table = HandlerTable(now: now)
        }
    }
}

// MARK: - Handlers

extension EventLoop.Core {
    /// Gives `handler` a token without a descriptor, for deadlines, attention and results of other threads.
    @discardableResult
    package func add(_ handler: any Handler) -> Token { table.add(handler) }

    /// Gives `handler` a token and has epoll report `events` of `descriptor` to it.
    @discardableResult
    package func add(_ handler: any Handler, descriptor: Int32, events: UInt32) -> Token {
        let token = add(handler)
        watch(descriptor, events: events, for: token)
        return token
    }

    /// Has epoll report `events` of `descriptor` to a handler that has a token already.
    package func watch(_ descriptor: Int32, events: UInt32, for token: Token) {
        CLinux_epoll_ctl(epoll.raw, CLinux_ADD, descriptor, events, token.rawValue)
    }

    /// Releases the handler.
    ///
    /// Its owner closes the descriptor, which removes it from epoll.
    package func remove(_ token: Token) {
        _ = table.remove(token)
    }

    /// Stops the reports for a descriptor that stays open.
    package func unwatch(_ descriptor: Int32) {
        CLinux_epoll_ctl(epoll.raw, CLinux_DEL, descriptor, 0, 0)
    }

    /// Returns the handler of `token`, nil once it is removed; for results of other threads.
    package func handler<H: Handler>(_ token: Token, as type: H.Type) -> H? {
        table.handler(token) as? H
    }

    /// Calls the handler's `attend` once, after the events of this batch.
    package func attend(_ token: Token) { table.attend(token) }

    /// Calls the handler's `expired` at `deadline` (monotonic milliseconds) or a few milliseconds later.
    ///
    /// A handler has one deadline: the last call counts, and nil removes it.
    package func setDeadline(_ token: Token, _ deadline: Int64?) { table.setDeadline(token, deadline) }

    // MARK: The loop itself

    fileprivate func spin() {
        var events = [CLinux_event](repeating: CLinux_event(), count: 256)
        var fullBatches = 0
        while isRunning {
            let hasWork = loop.hasOwnJobs.load(ordering: .relaxed) || table.wantsAttention
            let timeout = hasWork ? 0 : table.millisecondsToNext(now: now)
            // Safe: the callee writes at most 256 events.
            let count = Int(unsafe CLinux_epoll_wait(epoll.raw, &events, 256, timeout))
            let beganAt = lookAtClock()
            let polledAt = now
            for position in 0..<max(0, count) {
                if position % Self.clockInterval == Self.clockInterval - 1 { lookAtClock() }
                dispatch(events[position])
            }
            if loop.hasOwnJobs.load(ordering: .relaxed) {
                loop.runJobs(self)
                lookAtClock()
            }
            attendAll(behind: max(0, count))
            // After a stall more events wait than one batch holds. No handler is late before its turn.
            fullBatches = count == events.count ? fullBatches + 1 : 0
            if fullBatches % Self.fullBatchesMax == 0 { expireAll(upTo: polledAt) }
            turnEnded?(Int(SystemClock.monotonicNanoseconds - beganAt) / 1_000)
        }
        _ = table.removeAll()
    }

    /// The number of handlers that see the same time, so that work of earlier handlers does not count against
    /// later ones.
    private static let clockInterval = 16
    /// The number of consecutive full batches before deadlines count.
    private static let fullBatchesMax = 16

    /// Sets the time of the current events; returns it in nanoseconds.
    @discardableResult
    private func lookAtClock() -> Int64 {
        let nanoseconds = SystemClock.monotonicNanoseconds
        now = nanoseconds / 1_000_000
        return nanoseconds
    }

    private func dispatch(_ event: CLinux_event) {
        // A handler that was removed earlier in this batch is not found, even if its descriptor number is in use again.
        let handler = table.handler(Token(rawValue: event.token))
        handler?.ready(Readiness(rawValue: event.events), self)
    }

    /// Calls the handlers that asked for attention, behind those of the events.
    private func attendAll(behind handled: Int) {
        let count = table.beginAttention()
        for position in 0..<count {
            if (handled + position) % Self.clockInterval == Self.clockInterval - 1 { lookAtClock() }
            let handler = table.takeAttention(position)
            handler?.attend(self)
        }
        table.endAttention()
    }

    /// Calls the handlers whose deadline was due when the events were polled; later events may be what they
    /// wait for.
    private func expireAll(upTo moment: Int64) {
        for token in table.takeDue(upTo: moment) {
            let handler = table.takeExpired(token, upTo: moment)
            handler?.expired(self)
        }
    }
}

/// A value that another thread gives, for one that waits for it.
package struct AwaitedValue<Value: Sendable>: Sendable {
    private let value = Guarded<Value?>(nil)
    private let isGiven = DispatchSemaphore(value: 0)

    package init() {}

    /// Gives the value, once.
    package func give(_ given: Value) {
        value.withLock { $0 = given }
        isGiven.signal()
    }

    /// Waits for the value, and returns it; nil if it does not come in time.
    ///
    /// Never call it on a loop.
    package func take(until end: DispatchTime = .distantFuture) -> Value? {
        isGiven.wait(timeout: end) == .success ? value.withLock { $0 } : nil
    }
}
