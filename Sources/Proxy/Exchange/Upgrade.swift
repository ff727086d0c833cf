internal import HTTP
internal import Primitives

/// Decisions about the change of a connection's protocol, WebSocket above all (RFC 9110 section 7.8): pure functions.
enum Upgrade {
    /// Returns the protocols of a request that are passed on to the upstream; nil if there are none.
    ///
    /// h2c is not: a tunnel of HTTP/2 would carry requests that Dictum never sees. A request with a body has none, because
    /// nobody could tell where the new protocol begins.
    static func protocols(askedBy request: borrowing RequestHead, framing: BodyFraming) -> String? {
        guard request.headers.contains(.upgrade), request.version >= .http11, !framing.hasBody,
            request.headers.containsToken(.connection, "upgrade")
        else { return nil }
        let names = names(request.headers).filter { !isHTTP($0) }
        return names.isEmpty ? nil : names.joined(separator: ", ")
    }

    /// Returns true if a 101 changes to protocols that its request asked for, and to no others.
    static func isAnswer(_ response: borrowing Headers, to request: borrowing Headers) -> Bool {
        let asked = Set(names(request).map { $0.lowercased() })
        let chosen = names(response)
        return !chosen.isEmpty && chosen.allSatisfy { asked.contains($0.lowercased()) }
    }

    private static func names(_ headers: borrowing Headers) -> [String] {
        var names: [String] = []
        headers.forEachListMember(of: .upgrade) { names.append(String($0)) }
        return names
    }

    private static func isHTTP(_ name: String) -> Bool {
        let name = name.lowercased()
        return name.hasPrefix("h2") || name.hasPrefix("h3") || name == "http" || name.hasPrefix("http/")
    }
}
