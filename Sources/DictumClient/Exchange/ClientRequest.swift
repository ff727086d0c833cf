internal import Dictionaries
internal import DictionaryFiles
internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// A request of the app with what the client adds to it; pure.
struct ClientRequest {
    /// The codings that the client undoes by itself; the app need not know them.
    static let ownCodings = ContentCoding.preferred.filter(\.isLinked)

    /// The request as it is sent.
    let urlRequest: URLRequest
    let target: TargetURI
    /// The dictionary that it names.
    let offered: VerifiedDictionary?
    /// The body that a 304 confirms, although the app did not ask for one.
    let confirmed: VerifiedDictionary?
    /// The body that a 304 to the app's own condition confirms, which the app holds as well.
    let known: VerifiedDictionary?

    /// Returns the parts of a URL that dictionaries depend on; nil unless it is http or https.
    static func target(of url: URL?) -> TargetURI? {
        guard let url, let parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return nil }
        return TargetURI(
            scheme: parts.scheme, host: parts.host, port: parts.port, path: parts.percentEncodedPath,
            query: parts.percentEncodedQuery)
    }

    static func method(_ request: URLRequest) -> String { request.httpMethod ?? "GET" }

    /// Returns true if dictionaries may have a part in a request: a GET of the whole, a QUERY or a POST, at a trustworthy
    /// origin, whose codings the app leaves to the client.
    static func mayUseDictionaries(_ request: URLRequest, _ target: TargetURI) -> Bool {
        guard target.isTrustworthy, ["GET", "QUERY", "POST"].contains(method(request)) else { return false }
        let own = ["Range", "Available-Dictionary", "Dictionary-ID"]
        guard own.allSatisfy({ request.value(forHTTPHeaderField: $0) == nil }) else { return false }
        // An app that accepts the plain body only, or refuses dictionaries by weight 0, gets what it asked for.
        guard let text = request.value(forHTTPHeaderField: "Accept-Encoding") else { return true }
        let isRefused = AcceptEncoding([text + ", dcz"]).quality(of: .dcz) == 0
        return !isRefused && text.lowercased() != ContentCoding.identity.token
    }

    /// Adds the fields for what is held.
    init(
        _ request: URLRequest, _ target: TargetURI, best: VerifiedDictionary?, own: VerifiedDictionary?,
        decodedCodings: [String]
    ) {
        var request = request
        // What other parts of the app have in the system's cache is no answer to a request that names a dictionary.
        request.cachePolicy = .reloadIgnoringLocalCacheData
        let isConditional = OwnCondition.fields.contains { request.value(forHTTPHeaderField: $0) != nil }
        let etag = OwnCondition.entityTag(of: own?.record.dictionary, isConditional: isConditional)
        for (name, value) in best?.record.dictionary.advertisement ?? [] {
            request.setValue(value, forHTTPHeaderField: name)
        }
        let asked = request.value(forHTTPHeaderField: "Accept-Encoding")
        if Self.method(request) != "HEAD", request.value(forHTTPHeaderField: "Range") == nil {
            request.setValue(
                Self.acceptEncoding(asked, decodedCodings, withDictionary: best != nil),
                forHTTPHeaderField: "Accept-Encoding")
        }
        if let etag { request.setValue(etag, forHTTPHeaderField: "If-None-Match") }
        let tag = own?.record.dictionary.etag
        let asksForOwn = tag != nil && request.value(forHTTPHeaderField: "If-None-Match") == tag
        urlRequest = request
        self.target = target
        offered = best
        confirmed = !isConditional && asksForOwn ? own : nil
        known = isConditional && asksForOwn ? own : nil
    }

    /// Returns the body that a 304 confirms; nil if it is about another one.
    func confirmed(by head: TransportResponse) -> VerifiedDictionary? {
        confirmed.flatMap {
            OwnCondition.isConfirmed($0.record.dictionary, by: head.lines("etag")) ? $0 : nil
        }
    }

    /// Merges the app's Accept-Encoding with the codings that client and transport undo.
    ///
    /// dcb and dcz appear only with a dictionary (RFC 9842 section 6.1). Where the transport undoes codings by itself,
    /// the client names no other plain ones: a body that arrives decoded still has its Content-Encoding, and only the
    /// dictionary codings tell by their first bytes.
    static func acceptEncoding(_ asked: String?, _ decodedCodings: [String], withDictionary: Bool) -> String {
        let codings = withDictionary ? ownCodings.filter(\.usesDictionary).map(\.token) : []
        let plain =
            decodedCodings.isEmpty ? ownCodings.filter { !$0.usesDictionary }.map(\.token) : decodedCodings
        let rest = asked ?? plain.joined(separator: ", ")
        return (codings + [rest]).joined(separator: ", ")
    }
}

extension ClientRecord {
    /// Returns a digest of the request fields on which a response depends.
    static func selection(_ request: URLRequest, _ fields: [ResponseField]) -> String {
        RequestSelection.digest(
            vary: fields.lines("vary"), sent: (request.allHTTPHeaderFields ?? [:]).keys
        ) { request.value(forHTTPHeaderField: $0) }
    }

    /// Returns true if the response could answer a request, so that the client may ask whether it still does.
    func isSelected(by request: URLRequest) -> Bool { selection == Self.selection(request, fields) }
}
