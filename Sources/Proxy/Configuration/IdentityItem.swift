package import HTTP

/// A property of a request or response that identifies a user: an item of the setting `identity`.
package enum IdentityItem: Hashable, Sendable {
    case authorization
    case cookie(String)
    case header(HeaderName)
    /// A field of the upstream's response, which clients do not get.
    case response(HeaderName)

    init?(_ text: String) {
        guard text != "authorization" else {
            self = .authorization
            return
        }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(
            String.init)
        guard parts.count == 2, let name = HeaderName(parts[1]), parts[1].utf8.count <= 256 else {
            return nil
        }
        switch parts[0] {
        case "cookie": self = .cookie(parts[1])
        case "header" where name == .authorization: self = .authorization
        case "header": self = .header(name)
        case "response" where !Self.meaningful.contains(name): self = .response(name)
        default: return nil
        }
    }

    package var text: String {
        switch self {
        case .authorization: "authorization"
        case .cookie(let name): "cookie:\(name)"
        case .header(let name): "header:\(name.text.lowercased())"
        case .response(let name): "response:\(name.text.lowercased())"
        }
    }

    /// Response fields that clients need.
    private static let meaningful: Set<HeaderName> = [
        .cacheControl, .connection, .contentEncoding, .contentLength, .contentRange, .contentType, .date,
        .etag, .location, .setCookie, .trailer, .transferEncoding, .upgrade, .useAsDictionary, .vary,
    ]
}

extension SettingType where Value == [IdentityItem] {
    static let identity = {
        let item = SettingType<IdentityItem>.scalar(
            "authorization, cookie:NAME, header:NAME, or response:NAME for a field of the upstream's response",
            write: { $0.text.inYAML }, read: { IdentityItem($0) })
        let list = SettingType.list(item, 1...16).once("item")
        let expectation = "\(item.expectation); or a list of 1 to 16 of these"
        return SettingType(
            expectation: expectation,
            read: { node, reader in
                if case .scalar = node.content { return item.read(node, &reader).map { [$0] } }
                return list.read(node, &reader)
            }, write: list.write)
    }()
}
