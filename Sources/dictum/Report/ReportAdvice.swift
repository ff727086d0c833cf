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
            hasCredentials: 2 * observed.credentials > observed.responses,
            changesEachTime: observed.responses > 3 && observed.versions >= observed.responses
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

    /// Returns what a reason means and what to do; nil if there is nothing to do.
    static func text(_ reason: Reason) -> String? {
        switch reason {
        case .noStore: "remove no-store if the response may be kept, or set store_despite: [no-store]"
        case .varyAny: "have Vary name fields"
        case .personal: "the response belongs to one user, and personal is off"
        case .identityIncomplete:
            "an item of identity is missing, or a cookie or Authorization is not covered by it"
        case .insecureTransport: "use TLS, or name the proxy in front in trusted_proxies"
        case .crossOrigin: "a page of another origin without CORS; allow the origin"
        case .pathNotNormal: "the path has dot segments, // or needless escapes"
        case .ineligibleType: "the type is not in compression.types"
        case .ineligibleSize: "shorter than compression.min_size or longer than max_body"
        case .codedUpstream: "the upstream's coding is unknown, or must stay"
        case .noTransform: "the response says no-transform"
        case .offeredUpstream: "the upstream offers dictionaries itself"
        case .authorityOff: "the Host is not in authorities"
        case .codingNotAccepted:
            "Accept-Encoding has neither dcz nor dcb: something in front of Dictum removes them"
        case .dictionaryNotKept:
            "the client kept an earlier response and names no dictionary: it kept none (`dictum doctor` says why), or does not support them"
        case .clientNew:
            "the client names no dictionary: it is new, or does not support them; one request cannot tell"
        case .dictionaryUnknown: "the dictionary is not here for this URL"
        case .dictionaryCold: "the dictionary could not be read in time"
        case .verifyFailed: "a delta did not decode; see the log"
        case .busy: "no CPU or memory for the coding"
        case .heldOut: "held out by the experiment"
        case .notModified: "304: the client had the response already, so there was nothing to send"
        case .notShorter: "a delta would be no shorter"
        default: nil
        }
    }
}
