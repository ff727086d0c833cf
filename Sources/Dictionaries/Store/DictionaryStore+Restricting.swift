extension DictionaryStore {
    /// From now on only versions that this says are current are used; the others stay and may become so again.
    ///
    /// Call it when the routes have changed, not on an event loop: it looks at every version. When it returns, no
    /// reader finds any other.
    package func restrict(to isCurrent: @escaping @Sendable (Version) -> Bool) {
        currency.withLock { $0 = CurrencyRule(isCurrent: isCurrent, number: $0.number + 1) }
        let versions = publisher.index.allVersions()
        for version in versions { version.setCurrent(isCurrent(version)) }
        reportUnused(among: versions)
    }

    /// Notes whether versions may be used, by the rule of now, unless that is the one of this number; returns its own.
    ///
    /// Once versions are in the index, `restrict` finds them itself. Those that are judged before must be so again, if
    /// the rule has changed meanwhile: then none is missed. Nor does a former rule have the last word: one that changes
    /// while it judges is asked anew.
    @discardableResult
    func judge<Versions: Sequence<Version>>(
        _ versions: @autoclosure () -> Versions, unless number: Int? = nil
    ) -> Int {
        var judged = number
        while true {
            let rule = currency.withLock { $0 }
            if rule.number == judged { return rule.number }
            for version in versions() { version.setCurrent(rule.isCurrent(version)) }
            judged = rule.number
        }
    }

    /// Says how many versions are not used.
    func reportUnused(among versions: [Version]) {
        let count = versions.count { !$0.isCurrent }
        guard count > 0 else { return }
        reports.unused(
            "\(count) of \(versions.count) versions in \(configuration.path) are of no route any more: they are not "
                + "used, and go when their max_age is over or their place is needed")
    }
}
