internal import Dictionaries
internal import HTTP
internal import Primitives
internal import Proxy

/// What prevents deltas, and how to change that.
enum ReportAdvice {
    /// Returns the findings of the doctor about the responses as they are.
    static func findings(_ observed: SavingsReport.Observed) -> [DoctorFinding] {
        guard !observed.fields.isEmpty else { return [] }
        var headers = Headers()
        for (name, value) in observed.fields.sorted(by: { $0.key < $1.key }) {
            guard let name = HeaderName(name) else { continue }
            for line in value.split(separator: "\n") { headers.append(name, String(line)) }
        }
        let now = Int64(SystemClock.unixSeconds)
        let sent = headers.first(.date).flatMap { HTTPDate.unixSeconds($0, now: now) }
        return ResponseJudgement(
            headers: headers, receivedAt: sent ?? now,
            credentials: 2 * observed.credentials > observed.responses ? .cookie : [],
            changesEachTime: observed.revisits > 3 && observed.unchanged == 0
        ).findings
    }

    /// Returns why a client that was here before holds nothing.
    static func lack(_ name: String) -> String {
        switch name {
        case "expired":
            "the response was no longer fresh; a longer max-age or stale-while-revalidate keeps it"
        case "unkept": "no browser keeps the response; see below"
        case "evicted": "the store has no longer the version; see store.max_size"
        case "never-offered": "its former responses offered none; see below"
        default: OutputFormat.plain(name)
        }
    }
}
