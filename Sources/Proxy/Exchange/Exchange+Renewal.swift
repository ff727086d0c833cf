internal import Dictionaries
internal import HTTP
internal import Primitives

// MARK: - Whether a body is worth being a version

extension Exchange {
    /// Whether a whole body becomes a version: one that was promised or returns, or one that the client gains by.
    func gainsVersion(_ body: Body, _ place: Answer.Place, _ answer: Answer) -> Bool {
        if answer.isStarted || isTakenAlways(place, answer) { return true }
        let known = proxy.index.version(place.key, digest: body.digest)
        if known != nil || isRenewed(answer, deltaBytes: answer.deltaBytes) { return true }
        return dictionary.version?.isSeenAgain(body.digest) == true
    }

    /// Whether a body that is not whole yet is promised to become a version.
    ///
    /// How long its delta will be is not known: that of the last one over the same version counts.
    func gainsPromise(_ place: Answer.Place, _ answer: Answer) -> Bool {
        if isTakenAlways(place, answer) { return true }
        let tag = answer.head.headers.first(.etag).flatMap { EntityTag($0)?.opaque }
        if let tag,
            proxy.index.version(place.key, etag: tag) != nil
        {
            return true
        }
        return isRenewed(answer, deltaBytes: dictionary.version?.lastDeltaBytes)
    }

    /// Whether a body of its place is a version whoever asks for it: the client holds it by the upstream's word, its head
    /// is to be confirmed, or a Link may name it.
    private func isTakenAlways(_ place: Answer.Place, _ answer: Answer) -> Bool {
        place.isUpstreamMatch || answer.headToKeep != nil || answer.offerForm == .link
    }

    /// Whether the client gains by another dictionary than the one it has come with; always where it has none.
    private func isRenewed(_ answer: Answer, deltaBytes: Int?) -> Bool {
        guard let version = usableVersion(for: answer.facts) else { return true }
        return Renewal(
            of: version, lifeSeconds: lifeSeconds(answer), deltaBytes: deltaBytes,
            now: SystemClock.unixSeconds
        ).isDue
    }

    /// For how long a client keeps what this answer offers; nil where nothing says so.
    private func lifeSeconds(_ answer: Answer) -> Int? {
        if let ttl = route.dictionary?.ttlSeconds { return ttl }
        let seconds = freshness(answer).remainingSeconds(at: Int64(SystemClock.unixSeconds))
        return seconds > 0 ? Int(clamping: seconds) : nil
    }

    /// Notes how long a delta was, before it is asked whether the next one would be shorter over another version.
    func noteDelta(_ answer: Answer, bytes: Int) {
        answer.deltaBytes = bytes
        dictionary.version?.noteDelta(bytes: bytes)
    }

    /// Notes that the client is offered a version that is there already.
    func noteOffered(_ version: Dictionaries.Version, _ answer: Answer) {
        let now = SystemClock.unixSeconds
        guard answer.offerForm == .inBand else { return context.store.touch(version, now: now) }
        context.store.offered(version, over: dictionary.version, now: now)
    }
}
