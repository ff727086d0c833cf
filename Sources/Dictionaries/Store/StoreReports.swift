internal import Dispatch

/// Events on their way to the log: the same trouble at most once a minute.
final class StoreReports: Sendable {
    private enum Topic: Hashable {
        case unwritable, unreadable, throttled, waiting
    }

    private let log: @Sendable (StoreEvent) -> Void
    /// When a topic was last reported, in nanoseconds of uptime.
    private let reported = Guarded<[Topic: UInt64]>([:])

    init(log: @escaping @Sendable (StoreEvent) -> Void) {
        self.log = log
    }

    /// The disk takes nothing.
    func unwritable(_ text: String) {
        if isDue(.unwritable) { log(.error(text)) }
    }

    /// A body is lost.
    func unreadable(_ text: String) {
        if isDue(.unreadable) { log(.error(text)) }
    }

    /// Admissions are refused since they would write too much; logged on the queue, as a loop must not wait.
    func throttled(on queue: DispatchQueue) {
        guard isDue(.throttled) else { return }
        queue.async { [log] in
            log(
                .warning(
                    "answers change faster than store.write_rate lets them be kept: some carry no offer, and no "
                        + "deltas can be made over them; raise it, or switch dictionaries off for routes whose "
                        + "answers never repeat"))
        }
    }

    /// The file was set aside.
    func damaged(_ text: String) {
        log(.error(text))
    }

    /// The file is another one.
    func replaced(_ text: String) {
        log(.error(text))
    }

    /// Another process writes the store; said once until it does no longer.
    func waiting(_ text: String) {
        let isFirst = reported.withLock { $0.updateValue(.max, forKey: .waiting) == nil }
        if isFirst { log(.warning(text)) }
    }

    /// This process writes the store now, after it had to wait for long.
    func tookOver(_ text: String) {
        let was = reported.withLock { $0.removeValue(forKey: .waiting) }
        if was != nil { log(.info(text)) }
    }

    /// Versions are there that no route makes.
    func unused(_ text: String) {
        log(.info(text))
    }

    /// The disk takes something again; the next trouble is reported at once.
    func recovered(_ text: String) {
        let was = reported.withLock { $0.removeValue(forKey: .unwritable) }
        if was != nil { log(.info(text)) }
    }

    private func isDue(_ topic: Topic) -> Bool {
        let now = DispatchTime.now().uptimeNanoseconds
        return reported.withLock { reported in
            if let last = reported[topic], now - last < 60_000_000_000 { return false }
            reported[topic] = now
            return true
        }
    }
}
