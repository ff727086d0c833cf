internal import Dictionaries
internal import HTTP
internal import Primitives

extension SettingType where Value == String {
    /// The name of a request field, with an optional `*` at either end.
    static let fieldPattern = word("the name of a field, such as x-api-key, x-auth-request-* or *-token") {
        $0.withoutOuterStars.map(\.isToken) == true
    }

    /// The name of a field that Dictum fills, in lower case.
    static let fieldName = scalar(
        "the name of a field that has no other use, such as x-client-subject", write: { $0.inYAML },
        read: { $0[...].isToken && FieldRule.isFree($0) ? $0.lowercased() : nil })

    /// The name of an upstream, which is looked up once all settings have been read.
    static let upstreamName = word("a name that upstreams has") { !$0.isEmpty }

    /// A host with an optional port, or a pattern of hosts.
    static let authority = word("a host, such as api.example.com, *.example.com or localhost:8080") {
        $0.contains("*") ? AuthorityNames.isItem($0) : HostAndPort($0) != nil
    }

    /// A media type (RFC 9110 section 8.3.1) without parameters; `*` stands for any characters.
    static let mediaType = word("a media type, such as application/json or text/*") { text in
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy(\.isToken)
    }

    static let queryName = word("the name of a query parameter, such as access_token or *session*") { text in
        1...256 ~= text.utf8.count && text.utf8.allSatisfy { 0x21...0x7E ~= $0 && !"&=#".utf8.contains($0) }
            && text.withoutOuterStars != nil
    }

    /// The URLs that a response covers; templates are checked once the route has been read.
    static let covers = word("path, url, pattern, or a template such as /app/<name>.*.js") { text in
        ["path", "url", "pattern"].contains(text) || text.hasPrefix("/")
    }

    /// A Cache-Control value (RFC 9111 section 5.2).
    static let cacheControl = word("a value of Cache-Control, such as \"public, max-age=60\"") { text in
        text.utf8.count <= 1024 && CacheControl.isWellFormed(text)
    }

    /// The name of a cookie (RFC 6265 section 4.1.1).
    static let cookieName = word("the name of a cookie, such as AWSALB") { $0[...].isToken }

    /// A cookie that does not identify a user.
    static let ignoredCookie = word(
        "the exact name of a cookie, or a pattern of its name and value, such as _ga_*=GS#.*"
    ) { IgnoredCookies.isItem($0) }

    /// A path with an optional query, as in a request line.
    static let requestTarget = word("a path such as /healthz") { text in
        guard text.hasPrefix("/"), text.utf8.count <= 2048 else { return false }
        return (try? RequestTarget(text)) != nil
    }

    /// A request destination (Fetch standard), as in Sec-Fetch-Dest.
    static let destination = word("a request destination, such as script or document") { text in
        1...32 ~= text.utf8.count && text.utf8.allSatisfy { 0x61...0x7A ~= $0 || $0 == 0x2D }
    }
}

extension SettingType where Value == String? {
    /// The name of a field to add to requests; fields that frame or describe the message are not allowed.
    static let requestField = scalar(
        "the name of a field such as X-Request-ID, or off", write: { $0?.inYAML ?? "off" },
        read: { text in
            if text.saysOff { return .some(nil) }
            let isOfUse = text[...].isToken && !["on", "true"].contains(text) && FieldRule.isFree(text)
            return isOfUse ? .some(text) : nil
        })

    /// A secret of visible ASCII characters; error texts never quote it.
    static func secret(bytes: ClosedRange<Int>) -> SettingType {
        parsed(
            "\(bytes.lowerBound) to \(bytes.upperBound) visible ASCII characters",
            write: { _ in "" }, redact: { $0 == nil ? "" : SettingValue.redacted },
            parse: { text throws(SettingFault) in
                guard text.isSecret(bytes: bytes) else { throw .unquoted("invalid secret") }
                return text
            })
    }
}

extension SettingType where Value == Priority {
    /// A word for an urgency, or parameters of the Priority field (RFC 9218 section 4).
    static let priority = scalar(
        "interactive, background, bulk, or parameters of Priority, such as \"u=2, i\"",
        write: { $0.text.inYAML },
        read: { text in
            if let urgency = urgencies[text] { return Priority(urgency: urgency) }
            let priority = Priority(parsing: text.utf8.span)
            // Text that a client may send and that is ignored is a mistake here.
            let isWhole = parameters(of: text) == parameters(of: priority.text)
            return isWhole && priority != Priority() ? priority : nil
        })

    /// Returns the members of a dictionary in one order (RFC 8941 section 3.2); a true one needs no value.
    private static func parameters(of text: String) -> [String] {
        text.split(separator: ",", omittingEmptySubsequences: false)
            .map { $0.trimmed == "i=?1" ? "i" : $0.trimmed }.sorted()
    }

    private static let urgencies: [String: UInt8] = ["interactive": 1, "background": 5, "bulk": 7]
}

extension String {
    /// True for visible ASCII characters, as many as permitted.
    func isSecret(bytes: ClosedRange<Int>) -> Bool {
        bytes ~= utf8.count && utf8.allSatisfy { 0x21...0x7E ~= $0 }
    }

    /// The text without a `*` at either end, which stands for any characters; nil if it has another, which would not.
    fileprivate var withoutOuterStars: Substring? {
        let word = dropFirst(hasPrefix("*") ? 1 : 0)
        let inner = word.dropLast(word.hasSuffix("*") ? 1 : 0)
        return inner.contains("*") ? nil : inner
    }
}

extension Substring {
    /// True for tokens of at most 256 bytes (RFC 9110 section 5.6.2).
    var isToken: Bool {
        1...256 ~= utf8.count && utf8.allSatisfy(ASCII.isToken)
    }
}
