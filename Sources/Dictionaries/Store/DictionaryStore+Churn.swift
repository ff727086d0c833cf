/// Chains whose bodies change too often, or that cover too much, are held back.
///
/// The advertisements of clients tell: each costs one short lock. All of it is in memory: after a restart every
/// chain begins with nothing held back, and learns anew.
extension DictionaryStore {
    // MARK: What clients advertise

    /// Counts a dictionary that was found for a request; true: compare its delta with plain coding, `noteSample`.
    ///
    /// - Parameter route: the match of the request's route, for the log.
    package func noteFound(
        _ version: Version, path: String, query: String?, now: Int, route: @autoclosure () -> String
    ) -> Bool {
        let url = Self.hash(path, query)
        let note = churn.withLedger { $0.noteFound(chain: version.chain, url: url, now: now) }
        if let stop = note.stop { report(stop, route: route()) }
        return note.isSampled
    }

    /// Counts a dictionary that was not found, for the chain that the answer will belong to.
    ///
    /// The chain must be in the index. True: it had the version and evicted it.
    @discardableResult
    package func noteMissing(
        _ digest: Digest, chain: ChainKey, path: String, query: String?, now: Int,
        route: @autoclosure () -> String
    ) -> Bool {
        let url = Self.hash(path, query)
        // What is remembered of evicted private versions is what they were called.
        let digest = chain.scope.name(of: digest, configuration.keys)
        let note = churn.withLedger { $0.noteMissing(digest, chain: chain, url: url, now: now) }
        if let stop = note.stop { report(stop, route: route()) }
        return note.isEvicted
    }

    /// Counts the bytes of a delta, and of the best plain coding of the same body.
    package func noteSample(
        chain: ChainKey, deltaBytes: Int, plainBytes: Int, now: Int, route: @autoclosure () -> String
    ) {
        let stop = churn.withLedger {
            $0.noteSample(chain: chain, deltaBytes: deltaBytes, plainBytes: plainBytes, now: now)
        }
        if let stop { report(stop, route: route()) }
    }

    // MARK: What follows from it

    /// Whether the chain is too wide, so that nothing is admitted to it or offered from it.
    package func isTooWide(_ chain: ChainKey, now: @autoclosure () -> Int) -> Bool {
        churn.isResting(chain, now: now)
    }

    /// Takes the chain's turn to admit a new body; false: it changes too often for another one now.
    ///
    /// A body that is in the chain needs no turn. Take it once the body is known to be new, or, without
    /// a digest, where its admission must be promised before.
    package func claimAdmission(of digest: Digest?, to chain: ChainKey, now: @autoclosure () -> Int) -> Bool {
        churn.claim(chain, for: digest.map { chain.scope.name(of: $0, configuration.keys) }, now: now)
    }

    /// Remembers the versions that have just left the index, for as long as clients may still hold them.
    ///
    /// Only those that a slower pace of admissions would have kept.
    func bury(_ evicted: StoreState.Evicted) {
        let index = publisher.index
        churn.withLedger { ledger in
            for (version, reason) in evicted.versions {
                if index.chain(version.chain) == nil {
                    ledger.drop(version.chain)
                } else if reason.isTurnover {
                    ledger.bury(version.digest, chain: version.chain, now: version.lastWanted)
                }
            }
        }
    }

    private func report(_ stop: ChainStop, route: String) {
        reports.tooWide(stop.text(route: route, urlsMax: configuration.churn.urlsMax), route: route)
    }

    private static func hash(_ path: String, _ query: String?) -> Int {
        var hasher = Hasher()
        hasher.combine(path)
        hasher.combine(query)
        return hasher.finalize()
    }
}

extension StoreStatistics.Eviction {
    /// Whether the version went since others came.
    fileprivate var isTurnover: Bool {
        switch self {
        case .versions, .size, .memory, .probation, .private: true
        default: false
        }
    }
}
