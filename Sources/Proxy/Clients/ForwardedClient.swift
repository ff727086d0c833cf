internal import HTTP
internal import Primitives

/// The client as trusted proxies name it in X-Forwarded-For and Forwarded (RFC 7239): pure functions.
///
/// Each proxy adds its peer on the right. So a list is read from its end, through the proxies that are trusted
/// themselves, to the client; members left of the client are the client's own word.
enum ForwardedClient {
    /// A request passes fewer proxies.
    private static let membersMax = 16
    /// A longer member names no client.
    private static let memberBytesMax = 512

    /// Returns the last address that is not trusted; nil if the fields of a trusted peer name none.
    static func address(_ headers: borrowing Headers, trusting networks: [TrustedNetwork]) -> IPAddress? {
        let isListed = headers.contains(.xForwardedFor)
        var client: IPAddress?
        walk(isListed ? .xForwardedFor : .forwarded, headers) { member in
            guard let address = address(in: member, isListed: isListed) else { return false }
            guard networks.contains(address) else {
                client = address
                return false
            }
            return true
        }
        return client
    }

    /// Returns the scheme that the client used, `http` or `https`, by the member of Forwarded that names the client.
    static func scheme(_ headers: borrowing Headers, trusting networks: [TrustedNetwork]) -> String? {
        var found: String?
        walk(.forwarded, headers) { member in
            found = scheme(of: member)
            return address(in: member, isListed: false).map(networks.contains) ?? false
        }
        return found
    }

    /// Hands the members over from the last one on, until `body` returns false.
    private static func walk(
        _ name: HeaderName, _ headers: borrowing Headers, _ body: (Span<UInt8>) -> Bool
    ) {
        var left = membersMax
        headers.forEachListMemberFromEnd(of: name) { member in
            left -= 1
            return left >= 0 && member.count <= memberBytesMax && body(member)
        }
    }

    private static func address(in member: Span<UInt8>, isListed: Bool) -> IPAddress? {
        let text = isListed ? String(member) : parameter("for", of: member)
        return text.flatMap { IPAddress($0.withoutPort) }
    }

    private static func scheme(of element: Span<UInt8>) -> String? {
        let scheme = parameter("proto", of: element)?.lowercased()
        return scheme == "http" || scheme == "https" ? scheme : nil
    }

    /// Returns the value of `name=value` or `name="value"` among the pairs of an element; these values have no escapes.
    private static func parameter(_ name: StaticString, of element: Span<UInt8>) -> String? {
        var pairs = ListMembers(0..<element.count, separator: ASCII.semicolon)
        while let range = pairs.next(in: element) {
            let pair = element.extracting(range)
            guard let equals = pair.firstIndex(of: ASCII.equals),
                pair.extracting(pair.trimmedRange(0..<equals)).equalsIgnoringCase(name)
            else { continue }
            let value = pair.extracting(pair.trimmedRange(equals + 1..<pair.count))
            return String(String(value).filter { $0 != "\"" })
        }
        return nil
    }
}

extension String {
    fileprivate var withoutPort: String {
        if hasPrefix("[") { return String(dropFirst().prefix { $0 != "]" }) }
        // An address with more than one colon is an IPv6 address, such as ::ffff:192.0.2.1.
        return count { $0 == ":" } == 1 ? String(prefix { $0 != ":" }) : self
    }
}
