internal import HTTP
internal import Redis

/// The examination of a Redis or Valkey server as a shared store.
enum SharedStoreExamination {
    /// Returns true for URLs of such servers.
    static func isFor(_ url: String) -> Bool {
        let scheme = url.prefix { !":/?".contains($0) }
        guard url[scheme.endIndex...].hasPrefix("://") else { return scheme == "unix" && url.contains(":") }
        return ["redis", "valkey", "unix"].contains { scheme.lowercased().hasPrefix($0) }
    }

    /// Examines a server; writes keys of its own, and removes them; blocks.
    static func report(on settings: RedisSettings) -> DoctorReport {
        let inspection = RedisInspection(settings, writes: true)
        var entries: [DoctorReport.Entry] = []
        if !inspection.server.isEmpty {
            entries.append(.init("shared-store-server", .good, "the server is \(inspection.server)"))
        }
        entries += inspection.findings.map { finding in
            finding.isFault
                ? .init("shared-store-fault", .problem, finding.text)
                : .init("shared-store-advice", .warning, finding.text)
        }
        if let latency = inspection.latencyMicroseconds, let deadline = inspection.deadline {
            let isSlow = latency >= settings.timeout * 1_000
            entries.append(
                .init(
                    "shared-store-latency", isSlow ? .warning : .good,
                    """
                    99 % of the replies come within \(Double(latency / 10) / 100) ms, so that a response waits \(deadline) \
                    ms for it at most
                    """ + (isSlow ? "; that is longer than timeout allows: move the server nearer" : "")))
        }
        return DoctorReport(
            sharedStore: settings.text, works: !inspection.findings.contains(where: \.isFault), entries)
    }
}
