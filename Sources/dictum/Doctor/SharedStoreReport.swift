internal import HTTP
internal import Redis

/// The examination of a Redis or Valkey server as a shared store, for people and as JSON.
struct SharedStoreReport: Encodable, Sendable {
    let url: String
    /// True if several proxies can share their dictionaries there.
    let works: Bool
    let findings: [DoctorReport.Entry]

    /// Returns true for URLs of such servers.
    static func isFor(_ url: String) -> Bool {
        let scheme = url.prefix { $0 != ":" }.lowercased()
        return !["http", "https"].contains(scheme) && url.contains(":")
            && ["redis", "valkey", "unix"].contains { scheme.hasPrefix($0) }
    }

    /// Examines a server; writes keys of its own, and removes them; blocks.
    init(_ settings: RedisSettings) {
        let inspection = RedisInspection(settings, writes: true)
        url = settings.text
        works = !inspection.findings.contains(where: \.isFault)
        var entries: [DoctorReport.Entry] = []
        if !inspection.server.isEmpty {
            entries.append(Self.entry("server", .good, "the server is \(inspection.server)"))
        }
        entries += inspection.findings.map { finding in
            Self.entry(
                finding.isFault ? "fault" : "advice", finding.isFault ? .problem : .warning, finding.text)
        }
        if let latency = inspection.latencyMicroseconds, let deadline = inspection.deadline {
            let isSlow = latency >= settings.timeout * 1_000
            entries.append(
                Self.entry(
                    "latency", isSlow ? .warning : .good,
                    """
                    99 % of the replies come within \(Double(latency / 10) / 100) ms, so that a response waits \(deadline) \
                    ms for it at most
                    """ + (isSlow ? "; that is longer than timeout allows: move the server nearer" : "")))
        }
        findings = entries
    }

    private static func entry(_ name: String, _ level: DoctorFinding.Level, _ text: String)
        -> DoctorReport.Entry
    {
        DoctorReport.Entry(
            finding: "shared-store-\(name)", level: level.rawValue, text: OutputFormat.plain(text))
    }

    /// One line per finding, then the verdict.
    var lines: [String] {
        let verdict =
            works ? "proxies can share dictionaries there" : "proxies cannot share dictionaries there"
        return findings.map { "\($0.level): \($0.text)" } + ["\(OutputFormat.plain(url)): \(verdict)"]
    }
}
