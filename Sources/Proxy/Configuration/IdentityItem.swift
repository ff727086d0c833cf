package import HTTP

/// One thing that tells a user from others: an item of the setting `identity`.
package enum IdentityItem: Hashable, Sendable {
    /// The request's Authorization.
    case authorization
    /// The request's cookie of this name.
    case cookie(String)
    /// A field of the request.
    case header(HeaderName)
    /// A field of the upstream's answer, which is not passed on.
    case response(HeaderName)

    /// Reads an item as the setting has it; nil where it is none.
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

    /// The item as the setting has it.
    package var text: String {
        switch self {
        case .authorization: "authorization"
        case .cookie(let name): "cookie:\(name)"
        case .header(let name): "header:\(name.text.lowercased())"
        case .response(let name): "response:\(name.text.lowercased())"
        }
    }

    /// What a client needs of an answer, and so cannot be taken from it.
    private static let meaningful: Set<HeaderName> = [
        .cacheControl, .connection, .contentEncoding, .contentLength, .contentRange, .contentType, .date,
        .etag,
        .location, .setCookie, .trailer, .transferEncoding, .upgrade, .useAsDictionary, .vary,
    ]
}

extension SettingType where Value == [IdentityItem] {
    /// One item, or a list of them.
    static let identity = {
        let item = SettingType<IdentityItem>.scalar(
            "authorization, cookie:NAME, header:NAME, or response:NAME for a field of the upstream's own",
            write: { $0.text.inYAML }, read: { IdentityItem($0) })
        let list = SettingType.list(item, 1...16)
        let expectation = "\(item.expectation); or a list of 1 to 16 of these"
        return SettingType(
            expectation: expectation,
            read: { node, reader in
                if case .scalar = node.content { return item.read(node, &reader).map { [$0] } }
                guard let items = list.read(node, &reader) else { return nil }
                guard Set(items).count == items.count else {
                    reader.reportUnexpected(node, expected: "each once", because: "an item is named twice")
                    return nil
                }
                return items
            }, write: list.write)
    }()
}
