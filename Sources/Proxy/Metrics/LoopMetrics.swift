internal import Dictionaries

/// The counters of one loop: plain integers, because only their loop changes them.
///
/// A scrape asks each loop for its `counters` and sums their samples.
final class LoopMetrics {
    /// The counters so far; a copy may leave the loop.
    private(set) var counters: LoopCounters

    init(routes: Int) {
        counters = LoopCounters(routes: routes)
    }

    /// Counts so many routes from now on, if they are more than before.
    func grow(routes: Int) { counters.routeCount = max(counters.routeCount, routes) }

    func countRequest(_ record: RequestRecord) { counters.count(record) }

    func countCompression(_ coding: ContentCoding, nanoseconds: Int) {
        counters.countCompression(coding, nanoseconds: nanoseconds)
    }

    func countRejected(_ reason: RejectionReason) { counters.rejectedRequests.add(at: reason.index) }
    func countUpstreamError(_ kind: UpstreamErrorKind, of upstream: String) {
        counters.upstreamErrors.add(row: row(ofUpstream: upstream), at: kind.index)
    }
    /// Returns the row in which an upstream's times are counted.
    func row(ofUpstream name: String) -> Int { counters.row(ofUpstream: name) }
    func countConnect(microseconds: Int, row: Int) {
        counters.upstreamConnectTime.add(microseconds: microseconds, row: row)
    }
    func countTurn(microseconds: Int) { counters.turns.add(microseconds: microseconds) }
    func countRetry(_ reason: RetryReason) { counters.upstreamRetries.add(at: reason.index) }
    func countRetryOverBudget() { counters.upstreamRetriesOverBudget.add() }
    func countAdmission() { counters.admissions.add() }
    func countBusy() { counters.compressionBusy.add() }
    func countOffer() { counters.offers.add() }
    func countUpgrade() { counters.upgrades.add() }
    func countUnkept(_ reason: UnkeptReason, route: Int?) { counters.countUnkept(reason, route: route) }
    func countUnfollowed(route: Int?) { counters.countUnfollowed(route: route) }
    func countAnnounced(_ count: Int, route: Int?) { counters.countAnnounced(count, route: route) }
}
