extension DictionaryStore {
    /// From now on only versions that this says are current are used; the others stay and may become so again.
    ///
    /// Call it when the routes have changed, not on an event loop: it looks at every version. When it returns, no
    /// reader finds any other.
    package func restrict(to isCurrent: @escaping @Sendable (Version) -> Bool) {
        currency.withLock { $0 = CurrencyRule(isCurrent: isCurrent) }
        let versions = publisher.index.allVersions()
        for version in versions { version.setCurrent(isCurrent(version)) }
        reportUnused(among: versions)
    }

    /// Notes whether a version may be used, before or after it is published.
    ///
    /// After `restrict` has changed the rule it finds the versions published before, and the others are judged
    /// by the new rule: none is missed.
    func judge(_ version: Version?) {
        guard let version else { return }
        let rule = currency.withLock { $0 }
        version.setCurrent(rule.isCurrent(version))
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
