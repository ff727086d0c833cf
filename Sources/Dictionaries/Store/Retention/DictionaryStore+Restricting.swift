extension DictionaryStore {
    /// From now on only versions that this says are current are used; the others stay and may become so again.
    ///
    /// Call it when the routes have changed, not on an event loop: it looks at every version. When it returns, no
    /// reader finds any other.
    package func restrict(to isCurrent: @escaping @Sendable (Version) -> Bool) {
        currency.withLock { $0 = CurrencyRule(isCurrent: isCurrent, number: $0.number + 1) }
        judgeAll()
        reportUnused()
    }

    /// Notes of every version whether it may be used, by the rule of now, unless that is the one of this number.
    ///
    /// Nor does a former rule have the last word: one that changes while it judges is asked anew.
    func judgeAll(unless number: Int? = nil) {
        var judged = number
        while true {
            let rule = currency.withLock { $0 }
            if rule.number == judged { return }
            let index = publisher.index
            let unsure = index.judge(rule.isCurrent)
            if !unsure.isEmpty { judge(unsure, in: index, by: rule) }
            judged = rule.number
        }
    }

    /// Judges versions whose URLs are on disk alone; those that cannot be read there are not used.
    private func judge(_ unsure: Set<Int64>, in index: DictionaryIndex, by rule: CurrencyRule) {
        var left = unsure
        try? disk.withLock { $0.database }?.forEachURL { row, url in
            if left.remove(row) != nil { index.judge(row: row, url: url, rule.isCurrent) }
        }
        for row in left {
            // One that was written since the rows were read knows its URL.
            if let version = index.version(row: row) {
                index.judge(version) { $0.hasOwnURL && rule.isCurrent($0) }
            }
        }
    }

    /// Notes of a version that is in the index whether it may be used.
    func judge(_ version: Version) {
        var judged: Int?
        while true {
            let rule = currency.withLock { $0 }
            if rule.number == judged { return }
            publisher.index.judge(version, rule.isCurrent)
            judged = rule.number
        }
    }

    /// Says how many versions are not used.
    func reportUnused() {
        let (count, all) = publisher.index.unusedCount()
        guard count > 0 else { return }
        reports.unused(
            "\(count) of \(all) versions in \(configuration.path) are of no route any more: they are not "
                + "used, and go when their max_age is over or their place is needed")
    }
}
