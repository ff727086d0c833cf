extension DictionaryStore {
    /// Uses only versions that are current by this rule from now on; the others stay and may become current
    /// again.
    ///
    /// Call it when the routes have changed, not on an event loop: it examines every version. When it
    /// returns, no reader finds any other.
    package func restrict(to isCurrent: @escaping @Sendable (Version) -> Bool) {
        currency.withLock { $0 = CurrencyRule(isCurrent: isCurrent, number: $0.number + 1) }
        judgeAll()
        reportUnused()
    }

    /// Applies the present rule to every version, unless it is the rule with this number.
    ///
    /// If the rule changes meanwhile, the new one is applied too.
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

    /// Applies a rule to versions whose URLs are on disk only.
    ///
    /// Versions whose URL cannot be read are not used.
    private func judge(_ unsure: Set<Int64>, in index: DictionaryIndex, by rule: CurrencyRule) {
        var left = unsure
        try? disk.withLock { $0.database }?.forEachURL { row, url in
            if left.remove(row) != nil { index.judge(row: row, url: url, rule.isCurrent) }
        }
        for row in left {
            // A version written after the rows were read knows its URL.
            if let version = index.version(row: row) {
                index.judge(version) { $0.hasOwnURL && rule.isCurrent($0) }
            }
        }
    }

    /// Applies the present rule to a version in the index.
    func judge(_ version: Version) {
        var judged: Int?
        while true {
            let rule = currency.withLock { $0 }
            if rule.number == judged { return }
            publisher.index.judge(version, rule.isCurrent)
            judged = rule.number
        }
    }

    /// Reports the number of unused versions.
    func reportUnused() {
        let (count, all) = publisher.index.unusedCount()
        guard count > 0 else { return }
        reports.unused(
            "\(count) of \(all) versions in \(configuration.path) are of no route any more: they are not "
                + "used, and go when their max_age is over or their place is needed")
    }
}
