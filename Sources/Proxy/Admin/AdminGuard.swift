internal import Dictionaries
internal import HTTP

/// The access rules of the admin listener, as pure functions of a request's head.
///
/// A page in the operator's browser can send requests to 127.0.0.1, even as its own origin after DNS rebinding.
/// Therefore every request needs the token, or a loopback Host from a loopback peer that forwards for nobody. A change
/// also needs headers that no page of another origin can send: no foreign Origin, and a JSON content type, which
/// triggers a preflight.
enum AdminGuard {
    /// Returns the reason to refuse the request, or nil.
    static func refusal(
        _ head: RequestHead, peer: Endpoint?, token: String?, isChange: Bool
    ) -> AdminRefusal? {
        guard isChange else { return credentialRefusal(head, peer: peer, token: token) }
        if isForeign(head) {
            return AdminRefusal(.forbidden, "Requests of pages of another origin are refused.")
        }
        if let refusal = credentialRefusal(head, peer: peer, token: token) { return refusal }
        guard isJSON(head.headers.values(.contentType)) else {
            return AdminRefusal(
                .unsupportedMediaType, "Send Content-Type: application/json.", (.accept, "application/json"))
        }
        return nil
    }

    // MARK: Origin

    private static func isForeign(_ head: RequestHead) -> Bool {
        if let site = head.headers.joined(.secFetchSite), site != "same-origin", site != "none" {
            return true
        }
        let origins = head.headers.values(.origin)
        guard let origin = origins.first else { return false }
        return origins.count > 1 || !isSame(origin, head.authority)
    }

    /// RFC 6454 section 7: `scheme://host[:port]`, or `null`, which equals no origin.
    private static func isSame(_ origin: String, _ authority: String?) -> Bool {
        let origin = origin.lowercased()
        for (prefix, port) in [("http://", UInt16(80)), ("https://", 443)] where origin.hasPrefix(prefix) {
            guard let theirs = HostAndPort(origin.dropFirst(prefix.count)),
                let own = authority.flatMap({ HostAndPort($0) })
            else { return false }
            return theirs.host == own.host && (theirs.port ?? port) == (own.port ?? port)
        }
        return false
    }

    // MARK: Host or token

    private static func credentialRefusal(
        _ head: RequestHead, peer: Endpoint?, token: String?
    ) -> AdminRefusal? {
        let given = head.headers.values(.authorization)
        if let token, !given.isEmpty {
            return given.count == 1 && isBearer(given[0], of: token) ? nil : unauthorized
        }
        // A proxy on this machine may have forwarded the request for somebody.
        if isOwnHost(head.authority), isThisMachine(peer), !head.headers.isForwarded {
            return nil
        }
        if token != nil { return unauthorized }
        return AdminRefusal(
            .forbidden, "Ask from this machine with Host localhost, or set admin.token and send it.")
    }

    private static var unauthorized: AdminRefusal {
        AdminRefusal(
            .unauthorized, "Send Authorization: Bearer with admin.token.",
            (.wwwAuthenticate, #"Bearer realm="dictum""#))
    }

    /// Compares the digests of the tokens in constant time (RFC 6750 section 2.1).
    private static func isBearer(_ value: String, of token: String) -> Bool {
        let scheme = "bearer "
        guard value.lowercased().hasPrefix(scheme) else { return false }
        let given = Digest(of: Array(value.dropFirst(scheme.count).utf8).span).bytes
        let expected = Digest(of: Array(token.utf8).span).bytes
        // In Swift `|` and `^` have the same precedence: without the parentheses one wrong token in 256 would pass.
        return zip(given, expected).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// Returns true for names that DNS rebinding cannot point at this machine.
    private static func isOwnHost(_ authority: String?) -> Bool {
        guard let host = authority.flatMap({ HostAndPort($0) })?.host.lowercased() else { return false }
        return host == "localhost" || IPAddress(host)?.isLoopback == true
    }

    /// A remote client can write any Host, so the peer's address counts too.
    private static func isThisMachine(_ peer: Endpoint?) -> Bool {
        switch peer {
        case .ip(let address, _)?: address.isLoopback
        case .unix?: true
        case nil: false
        }
    }

    // MARK: Content type

    private static func isJSON(_ values: [String]) -> Bool {
        guard values.count == 1, let value = values.first else { return false }
        return value.prefix { $0 != ";" }.lowercased().filter { $0 != " " && $0 != "\t" }
            == "application/json"
    }
}
