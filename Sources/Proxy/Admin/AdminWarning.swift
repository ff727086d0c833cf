internal import Dictionaries
internal import Redis

/// A state or message that an operator should know.
struct AdminWarning: Encodable, Sendable, Equatable {
    enum Severity: String, Encodable, Sendable, CaseIterable {
        case error, warning, note
    }

    enum Source: String, Encodable, Sendable {
        /// A state of the process now.
        case state
        /// A warning of `dictum check` about the configuration in effect.
        case configuration
        /// A message of the log in the last day.
        case log
    }

    let severity: Severity
    let source: Source
    let text: String
    /// The time of the last such message, in seconds since 1970.
    var time: Int?
    var count: Int?

    /// Returns the warnings with the most severe first, each in its order.
    static func ordered(_ warnings: [AdminWarning]) -> [AdminWarning] {
        Severity.allCases.flatMap { severity in warnings.filter { $0.severity == severity } }
    }

    static func configured(_ configuration: Configuration) -> [AdminWarning] {
        let problems = configuration.warnings.map { "line \($0.line), column \($0.column): \($0.text)" }
        return (problems + [DescriptorLimit.shortage(of: configuration)].compactMap(\.self)).map {
            AdminWarning(severity: .warning, source: .configuration, text: $0)
        }
    }

    static func logged(_ entries: [RecentEvents.Entry]) -> [AdminWarning] {
        entries.map {
            AdminWarning(
                severity: $0.isError ? .error : .warning, source: .log, text: $0.text, time: $0.time,
                count: $0.count)
        }
    }
}

// MARK: - States

extension AdminWarning {
    private static func state(_ severity: Severity, _ text: String) -> AdminWarning {
        AdminWarning(severity: severity, source: .state, text: text)
    }

    /// Returns the states of a process that need attention, or that explain its numbers.
    static func states(
        _ snapshot: AdminStatus.Snapshot, store: StatusReport.Store, memory: StatusReport.Memory,
        unreadiness: String?, dictionaries: StatusReport.Dictionaries, linesLost: [String: Int]
    ) -> [AdminWarning] {
        var warnings: [AdminWarning] = []
        if snapshot.silentLoops > 0 {
            warnings.append(
                state(
                    .error,
                    "event loops that did not respond: \(snapshot.silentLoops); their numbers are old, and /healthz fails"
                ))
        }
        if let unreadiness {
            warnings.append(state(.error, "not ready (/readyz is 503): \(unreadiness)"))
        }
        for group in snapshot.context.upstreams.all {
            let servers = group.directory.servers
            let others = "it gets requests only if no other one is up"
            let what = servers.count > 1 ? others : "there is no other, so it still gets requests"
            warnings += servers.filter { !$0.isHealthy }.map {
                state(.error, "upstream \($0.text) is down: \(what)")
            }
        }
        for route in snapshot.context.routes.distrusted {
            warnings.append(
                state(
                    .error,
                    "route \(route.text): a delta did not decode to its body; dictionaries are off until a reload"
                ))
        }
        if let shared = snapshot.context.shared.redis?.counts, shared.breaker != .closed {
            warnings.append(
                state(
                    .warning,
                    "the shared store is not available: versions that only other nodes have give no deltas"))
        }
        return warnings + switched(dictionaries) + budgets(store, memory) + losses(linesLost)
    }

    /// Returns what the access log has lost, by the reason of its metric; the loss may have ended long ago.
    private static func losses(_ linesLost: [String: Int]) -> [AdminWarning] {
        let causes = [
            ("slow", "its reader or disk was too slow"),
            ("refused", "its disk was full, or its reader had gone"),
        ]
        return causes.compactMap { reason, cause in
            guard let count = linesLost[reason] else { return nil }
            let lines = count == 1 ? "1 line" : "\(count) lines"
            return state(.warning, "\(lines) of the access log lost since the start: \(cause)")
        }
    }

    private static func switched(_ dictionaries: StatusReport.Dictionaries) -> [AdminWarning] {
        guard !dictionaries.on else { return [] }
        return dictionaries.configured
            ? [state(.warning, "dictionaries are switched off (POST /dictionaries/on switches them on)")]
            : [state(.note, "dictionaries are off in the configuration")]
    }

    /// From this share on a budget counts as exhausted.
    private static let exhausted = 0.95

    private static func budgets(_ store: StatusReport.Store, _ memory: StatusReport.Memory) -> [AdminWarning]
    {
        func isExhausted(_ used: Int, of max: Int) -> Bool { Double(used) >= Double(max) * exhausted }
        var warnings: [AdminWarning] = []
        if let coding = memory.budgets[Budget.coding.rawValue],
            isExhausted(coding.usedBytes, of: coding.maxBytes)
        {
            warnings.append(
                state(.warning, "memory.coding is exhausted: some responses get a cheaper coding, or none"))
        }
        if isExhausted(store.diskBytes, of: store.maxDiskBytes) {
            warnings.append(
                state(.note, "the store is full (store.max_size): the least wanted versions make room"))
        }
        if isExhausted(store.chains, of: store.maxChains) {
            warnings.append(state(.note, "store.max_chains is reached: the least wanted chains make room"))
        }
        return warnings
    }
}
