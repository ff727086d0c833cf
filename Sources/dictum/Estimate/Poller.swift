internal import Dictionaries
internal import Foundation
internal import Glibc
internal import HTTP
internal import Primitives

/// Fetches URLs again and again, as a browser without its cache would.
struct Poller {
    /// The URLs and the times.
    struct Plan {
        let urls: [FetchURL]
        let everySeconds: Int
        let forSeconds: Int
        /// True to ask twice at once in the first round: bodies that differ even then change with every response.
        let asksTwice: Bool
        var fields = RequestFields()

        var rounds: Int { forSeconds / max(1, everySeconds) + 1 }
    }

    /// The codings of a browser that holds no dictionary.
    private static let accepted = CodingList(codings: [.gzip, .br, .zstd])
    private static let requestSecondsMax = 30

    private let plan: Plan
    private let plain: FetchClient?
    private let secure: FetchClient?
    private var progress: ProgressBar
    private var failures: [String: (count: Int, last: FetchError)] = [:]
    /// The statuses other than 200.
    private var statuses: Set<UInt16> = []

    init(_ plan: Plan, request: RequestOptions, progress: ProgressBar) throws {
        self.plan = plan
        self.progress = progress
        let first = plan.urls.first { $0.isTLS }
        secure = try first.map { try FetchClient(request.protocols(for: $0), for: $0, trusting: request.ca) }
        let other = plan.urls.first { !$0.isTLS }
        plain = try other.map { try FetchClient(request.protocols(for: $0)) }
    }

    /// Polls until the time is over, or a signal or a full collection ends it early; blocks.
    ///
    /// `Signals` must block the signals; one that ends the polling ends nothing else.
    mutating func run(into collection: inout HistoryCollection) throws(CommandError) {
        let start = SystemClock.monotonicNanoseconds
        let end = start + Int64(plan.forSeconds) * 1_000_000_000
        let former = collection.histories.count
        for round in 0..<plan.rounds {
            let asks = round == 0 && plan.asksTwice ? [false, true] : [false]
            for url in plan.urls {
                for isRepeat in asks where !Signals.hasPendingEnd {
                    fetch(url, isRepeat: isRepeat, since: start, into: &collection)
                }
            }
            progress.show(
                round + 1, of: plan.rounds,
                "\(OutputFormat.count(collection.histories.reduce(0) { $0 + $1.versions.count }, "version"))")
            // URLs that return nothing at first are wrong, and slow ones do not prolong the polling.
            guard !Signals.hasEnd(withinNanoseconds: 0), collection.histories.count > former,
                !collection.isFull, SystemClock.monotonicNanoseconds < end
            else { break }
            let due = start + Int64(round + 1) * Int64(plan.everySeconds) * 1_000_000_000
            if round + 1 < plan.rounds, isInterrupted(until: due) { break }
        }
        progress.end()
        report(&collection)
        guard !collection.histories.isEmpty else {
            throw CommandError(
                refusal ?? failures.values.first.map { "\($0.last)" } ?? "there were no responses")
        }
    }

    /// What the statuses say where no response was 200; nil without any.
    private var refusal: String? {
        guard !statuses.isEmpty else { return nil }
        let remedy =
            statuses.isDisjoint(with: [401, 403])
            ? "give a URL that returns 200" : "give the user's credentials with --cookie or -H"
        return "all responses were \(statuses.sorted().map(String.init).joined(separator: " or ")): \(remedy)"
    }

    private mutating func fetch(
        _ url: FetchURL, isRepeat: Bool, since start: Int64, into collection: inout HistoryCollection
    ) {
        let response: FetchResponse
        let body: Body
        do throws(FetchError) {
            let visit = FetchVisit(url: url, accepted: Self.accepted, fields: plan.fields)
            let deadline = FetchDeadline(seconds: Self.requestSecondsMax, isOption: false) {
                Signals.hasPendingEnd
            }
            let endpoints = try url.endpoints(until: deadline)
            guard let client = url.isTLS ? secure : plain else { throw .notAURL(url.text) }
            var request = try visit.request()
            request.headers.append(.secFetchSite, "same-origin")
            request.headers.append(.secFetchMode, "cors")
            request.headers.append(.secFetchDest, "empty")
            response = try client.send(request, to: endpoints, deadline: deadline)
            body = try visit.body(of: response)
        } catch {
            // It is not the URL's fault.
            if Signals.hasPendingEnd { return }
            failures[url.text] = ((failures[url.text]?.count ?? 0) + 1, error)
            return
        }
        guard response.head.status == .ok else {
            statuses.insert(response.head.status.rawValue)
            return collection.warn(
                "\(url.text): a response had status \(response.head.status.rawValue), but only 200 can be a dictionary; "
                    + "credentials go with -H or --cookie")
        }
        let seconds = Double(SystemClock.monotonicNanoseconds - start) / 1e9
        let seen = ResourceHistory.Response(
            seconds: seconds, body: body, headers: response.head.headers, receivedAt: response.receivedAt,
            sentBytes: response.body.count,
            credentials: plan.fields.knownCredentials, isRepeat: isRepeat)
        collection.add(seen, to: url.text) {
            var history = ResourceHistory(url: url, name: url.text)
            history.mediaType = response.head.headers.first(.contentType)
            return history
        }
    }

    /// Waits until a monotonic time; returns true at once if SIGINT or SIGTERM comes.
    private func isInterrupted(until due: Int64) -> Bool {
        while true {
            let rest = due - SystemClock.monotonicNanoseconds
            guard rest > 0 else { return false }
            if Signals.hasEnd(withinNanoseconds: rest) { return true }
        }
    }

    private func report(_ collection: inout HistoryCollection) {
        for (url, failure) in failures.sorted(by: { $0.key < $1.key }) {
            collection.warn("\(url): \(OutputFormat.count(failure.count, "request")) failed: \(failure.last)")
        }
    }
}

/// A progress bar on standard error, if that is a terminal.
struct ProgressBar {
    private static let width = 24
    private let isShown: Bool

    init(isWanted: Bool) { isShown = isWanted && isatty(STDERR_FILENO) == 1 }

    /// Replaces the line.
    func show(_ done: Int, of total: Int, _ text: String) {
        guard isShown else { return }
        let filled = total > 0 ? done * Self.width / total : Self.width
        let bar =
            String(repeating: "#", count: filled) + String(repeating: ".", count: Self.width - filled)
        write("\r[\(bar)] \(done)/\(total), \(OutputFormat.plain(text))\u{1B}[K")
    }

    /// Removes the line.
    func end() { if isShown { write("\r\u{1B}[K") } }

    private func write(_ text: String) { try? OutputFile.write(Array(text.utf8), to: STDERR_FILENO) }
}
