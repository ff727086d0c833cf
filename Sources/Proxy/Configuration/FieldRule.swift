/// The fields that routes must not change, with the reasons.
enum FieldRule {
    enum Message: Sendable {
        case request, response
    }

    /// Returns the reason why a route must not set or remove a field; nil if it may.
    static func obstacle(to name: String, of message: Message, isSet: Bool) -> String? {
        let name = name.lowercased()
        if connection.contains(name) { return "belongs to one connection" }
        if name == "content-length" { return "frames the message" }
        if name.hasPrefix("sec-websocket-") { return "belongs to the handshake of WebSocket" }
        switch message {
        case .request:
            if name == "accept-encoding" { return "follows accept_encoding of the upstream" }
            if forwarding.contains(name) { return "follows trusted_proxies" }
            if name == "host" { return isSet ? nil : "is required (RFC 9112 section 3.2)" }
            return ownOfRequests.contains(name) ? "is set by Dictum or decides about the response" : nil
        case .response:
            if name == "set-cookie" { return isSet ? "may have several lines: it can only be removed" : nil }
            return ownOfResponses.contains(name) ? "is set by Dictum or describes the body" : nil
        }
    }

    /// True for a field of requests that Dictum may fill itself, because nobody else reads or writes it.
    static func isFree(_ name: String) -> Bool {
        let name = name.lowercased()
        return obstacle(to: name, of: .request, isSet: true) == nil && !name.hasPrefix("content-")
            && !readByOthers.contains(name)
    }

    private static let readByOthers: Set<String> = [
        "accept", "accept-language", "authorization", "cookie", "host", "origin", "referer", "traceparent",
        "tracestate", "user-agent", "x-forwarded-port", "x-real-ip",
    ]
    private static let connection: Set<String> = [
        "connection", "http2-settings", "keep-alive", "proxy-connection", "te", "trailer",
        "transfer-encoding", "upgrade",
    ]
    private static let forwarding: Set<String> = [
        "forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-prefix", "x-forwarded-proto",
    ]
    private static let ownOfRequests: Set<String> = [
        "available-dictionary", "content-encoding", "dictionary-id", "early-data", "expect", "if-match",
        "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "max-forwards", "range",
        "via",
    ]
    private static let ownOfResponses: Set<String> = [
        "available-dictionary", "content-digest", "content-encoding", "content-md5", "content-range", "date",
        "dictionary-id", "digest", "dictum-explain", "etag", "repr-digest", "use-as-dictionary", "vary",
        "via",
    ]
}
