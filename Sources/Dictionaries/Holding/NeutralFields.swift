/// The request fields that cannot be credentials: they describe the response that the client wants; pure.
///
/// Any other field may be a credential, such as `X-API-Key`. A client that does not know its users keeps dictionaries
/// apart for each value of the others, and a redirect takes them to no other origin. So the list is closed: a name that
/// is missing costs a delta, one too many shows a user's response to another.
package enum NeutralFields {
    /// Returns true if a field, whose name may be in any case, is on the list.
    package static func have(_ name: String) -> Bool { names.contains(name.lowercased()) }

    private static let names: Set<String> = [
        // Negotiation.
        "accept", "accept-charset", "accept-encoding", "accept-language", "prefer", "user-agent",
        // Caches, conditions, ranges.
        "cache-control", "pragma", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since",
        "if-range",
        "range",
        // The content, which a redirect may take along.
        "content-type", "content-length", "content-encoding", "content-language",
        // Browsers.
        "dnt", "sec-gpc", "sec-fetch-dest", "sec-fetch-mode", "sec-fetch-site", "sec-fetch-user",
        "upgrade-insecure-requests", "x-requested-with", "priority",
        // The request itself; each has another value.
        "traceparent", "x-request-id",
    ]
}
