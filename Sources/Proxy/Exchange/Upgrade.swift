internal import HTTP
internal import Primitives

/// The change of a connection's protocol, WebSocket above all (RFC 9110 section 7.8): pure decisions.
enum Upgrade {
    /// The protocols that a request asks for and that are passed on to the upstream; nil where there are none.
    ///
    /// Not h2c: a tunnel of HTTP/2 past this proxy would carry requests that it never sees. Nor with a body, after
    /// which nobody could tell where the new protocol begins.
    static func protocols(askedBy request: borrowing RequestHead, framing: BodyFraming) -> String? {
        guard request.version >= .http11, framing == .none || framing == .length(0),
            request.headers.contains(.upgrade), request.headers.containsToken(.connection, "upgrade")
        else { return nil }
        let names = names(request.headers).filter { !isHTTP($0) }
        return names.isEmpty ? nil : names.joined(separator: ", ")
    }

    /// Whether a 101 changes to what its request asked for, and to nothing else.
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
