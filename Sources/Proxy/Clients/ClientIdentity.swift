internal import Dictionaries
internal import HTTP
internal import Primitives

/// The items of a request that tell one user from another on a private route: the setting `identity`, as a pure value.
struct ClientIdentity: Sendable {
    /// A name, unique within the identity, with the exact bytes of its value.
    typealias Value = (name: String, value: [UInt8])

    /// Sorted, so that the order in the configuration does not matter.
    private let items: [IdentityItem]
    /// True if cookies that are no items do not matter: `cookies: ignore`.
    private let ignoresOtherCookies: Bool
    /// Cookies that never matter: `ignore_cookies`.
    private let ignored: IgnoredCookies
    let responseNames: [HeaderName]

    init(_ items: [IdentityItem], ignoresOtherCookies: Bool, ignored: IgnoredCookies = IgnoredCookies()) {
        self.ignored = ignored
        self.items = items.sorted { $0.text < $1.text }
        self.ignoresOtherCookies = ignoresOtherCookies
        responseNames = items.compactMap { if case .response(let name) = $0 { name } else { nil } }
    }

    /// Returns the value of each item; nil if one is missing, empty or there twice, or if the request has an
    /// Authorization or a cookie that is no item.
    ///
    /// `request` has no fields that its Connection names, as the upstream does not get them.
    func values(request: Headers, response: Headers?) -> [Value]? {
        guard items.contains(.authorization) || !request.contains(.authorization) else { return nil }
        guard let cookies = cookies(of: request) else { return nil }
        var values: [Value] = []
        for item in items {
            let value: [UInt8]? =
                switch item {
                case .authorization: Self.single(.authorization, of: request)
                case .header(let name): Self.single(name, of: request)
                case .response(let name): response.flatMap { Self.single(name, of: $0) }
                case .cookie(let name): Self.single(name, of: cookies)
                }
            guard let value, !value.isEmpty else { return nil }
            values.append((item.text, value))
        }
        return values
    }

    /// Returns the values of a user whose items are known by their texts; nil unless they are those of the identity.
    func values(of user: [String: String]) -> [Value]? {
        let values = items.compactMap { item in user[item.text].map { (item.text, Array($0.utf8)) } }
        return values.count == items.count && user.count == items.count ? values : nil
    }

    /// Returns the value of a field that is there exactly once.
    private static func single(_ name: HeaderName, of headers: Headers) -> [UInt8]? {
        var values: [[UInt8]] = []
        headers.forEachValue(of: name) { values.append([UInt8](copying: $0)) }
        return values.count == 1 ? values[0] : nil
    }

    // MARK: Cookies

    private typealias Cookie = (name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)

    private static func single(_ name: String, of cookies: [Cookie]) -> [UInt8]? {
        let values = cookies.filter { $0.name.elementsEqual(name.utf8) }
        return values.count == 1 ? Array(values[0].value) : nil
    }

    /// Returns the request's cookies; nil if one is no item, and matters.
    private func cookies(of request: Headers) -> [Cookie]? {
        // The whole field as an item covers every cookie in it.
        let coversAll = ignoresOtherCookies || items.contains(.header(.cookie))
        let covered = items.compactMap { if case .cookie(let name) = $0 { Array(name.utf8) } else { nil } }
        var lines: [[UInt8]] = []
        request.forEachValue(of: .cookie) { lines.append([UInt8](copying: $0)) }
        // An empty field is a Cookie all the same.
        if !coversAll, covered.isEmpty { return lines.contains { ignored.counts($0.span) } ? nil : [] }
        let cookies = lines.flatMap(Self.cookies)
        let isCovered =
            coversAll
            || cookies.allSatisfy { cookie in
                covered.contains { $0[...] == cookie.name } || !ignored.counts(Self.line(of: cookie).span)
            }
        return isCovered ? cookies : nil
    }

    private static func line(of cookie: Cookie) -> [UInt8] {
        Array(cookie.name) + [UInt8(ascii: "=")] + cookie.value
    }

    /// Returns the pairs of a Cookie field (RFC 6265 section 4.2.1); one without `=` is a value without a name.
    private static func cookies(in line: [UInt8]) -> [Cookie] {
        line.split(separator: UInt8(ascii: ";")).compactMap { piece in
            let pair = piece.trimmed
            guard !pair.isEmpty else { return nil }
            guard let sign = pair.firstIndex(of: UInt8(ascii: "=")) else { return ([], pair) }
            return (pair[..<sign].trimmed, pair[(sign + 1)...].trimmed)
        }
    }
}
