package import Dictionaries

/// The counters of one loop: plain integers, since only their loop touches them.
///
/// A scrape asks each loop for its `snapshot` and sums them.
package final class LoopMetrics {
    /// The counters so far; a copy that may leave the loop.
    package private(set) var snapshot: MetricsSnapshot

    /// Counters at zero, for so many routes.
    package init(routes: Int) {
        snapshot = MetricsSnapshot(routes: routes)
    }

    /// Makes room for so many routes.
    func grow(routes: Int) { snapshot.grow(routes: routes) }

    /// Counts a request whose answer is over, whole or not.
    package func countRequest(_ record: RequestRecord) {
        snapshot.count(record)
    }

    /// Counts the time an encoder took.
    package func countCompression(_ coding: ContentCoding, nanoseconds: Int) {
        snapshot.countCompression(coding, nanoseconds: nanoseconds)
    }

    /// Counts a request that was refused.
    package func countRejected(_ reason: RejectionReason) {
        snapshot.rejected[reason, default: 0] += 1
    }

    /// Counts a failure of an upstream.
    package func countUpstreamError(_ kind: UpstreamErrorKind) {
        snapshot.upstreamErrors[kind, default: 0] += 1
    }

    /// Counts a request that was sent once more.
    package func countRetry(_ reason: RetryReason) { snapshot.retries[reason, default: 0] += 1 }

    /// Counts a request that was not, since there had been too many.
    package func countRetryOverBudget() { snapshot.retriesOverBudget += 1 }

    /// Counts a body that became a version.
    package func countAdmission() { snapshot.admissions += 1 }

    /// Counts an answer that found no place to be coded as decided.
    package func countBusy() { snapshot.busy += 1 }

    /// Counts an answer that offered a dictionary.
    package func countOffer() { snapshot.offers += 1 }

    /// Counts a connection that changed its protocol.
    package func countUpgrade() { snapshot.upgrades += 1 }

    /// Counts an offer that no browser keeps.
    package func countUnkept(_ reason: UnkeptReason, route: Int?) {
        snapshot.countUnkept(reason, route: route)
    }

    /// Counts a Link that no browser follows.
    package func countUnfollowed(route: Int?) { snapshot.countUnfollowed(route: route) }

    /// Counts Links by which a document announced dictionaries.
    package func countAnnounced(_ count: Int, route: Int?) { snapshot.countAnnounced(count, route: route) }
}
