internal import Dictionaries
internal import HTTP
internal import Primitives

/// The time for which Chromium may use a response as a dictionary, by the rules of its `HttpResponseHeaders`.
///
/// They differ from RFC 9111 in a few points, each of which is a case that tests check against doctor and a real
/// browser. `ttl` does not count, since Chromium has it behind a flag.
struct ChromiumFreshness: Equatable, Sendable {
    /// The seconds from when the response came; 0 or less if it cannot be a dictionary.
    let remainingSeconds: Int64
    /// The reason why it cannot; nil if its lifetime is simply over.
    let obstacle: UnkeptReason?

    /// Reads the fields of a 200 response; `receivedAt` is in seconds since 1970.
    init(_ headers: Headers, receivedAt: Int64) {
        let fields = Fields(headers, now: receivedAt)
        let sentAt = headers.first(.date).flatMap { HTTPDate.unixSeconds($0, now: receivedAt) }
        let age = max(fields.ageSeconds, max(0, receivedAt - (sentAt ?? receivedAt)))
        let lifetime = fields.isNeverFresh ? 0 : fields.lifetimeSeconds(sentAt: sentAt ?? receivedAt)
        let stale = fields.isNeverFresh || fields.mustRevalidate ? 0 : fields.staleSeconds
        let remaining = lifetime + stale - age
        remainingSeconds = remaining
        obstacle = remaining > 0 ? nil : fields.obstacle(lifetime: lifetime, stale: stale)
    }

    /// The fields as Chromium reads them.
    private struct Fields {
        private let directives: [Substring]
        private let pragma: [Substring]
        private let expires: String?
        private let lastModified: Int64?
        private let hasETag: Bool
        private let now: Int64
        let ageSeconds: Int64

        init(_ headers: Headers, now: Int64) {
            func members(_ name: HeaderName) -> [Substring] {
                headers.values(name).flatMap { $0.lowercased().split(separator: ",") }.map { member in
                    member.drop { $0 == " " || $0 == "\t" }
                }
            }
            directives = members(.cacheControl)
            pragma = members(.pragma)
            expires = headers.first(.expires)
            lastModified = headers.first(.lastModified).flatMap { HTTPDate.unixSeconds($0, now: now) }
            self.now = now
            hasETag = headers.contains(.etag)
            ageSeconds = headers.first(.age).flatMap { Int64($0) } ?? 0
        }

        /// Only a directive without arguments counts: `no-cache="Set-Cookie"` is another directive.
        private func has(_ word: String) -> Bool { directives.contains { $0.trimmed == word } }

        private func seconds(_ name: String) -> Int64? {
            directives.lazy.compactMap { directive in
                guard directive.hasPrefix(name + "=") else { return nil }
                return Int64(directive.dropFirst(name.count + 1).prefix { $0.isASCII && $0.isWholeNumber })
            }.first
        }

        var mustRevalidate: Bool { has("must-revalidate") }
        var staleSeconds: Int64 { seconds("stale-while-revalidate") ?? 0 }

        var isNeverFresh: Bool {
            has("no-cache") || has("no-store") || pragma.contains { $0.trimmed == "no-cache" }
        }

        /// Returns `max-age`, else Expires, else a tenth of the age of Last-Modified, unless `must-revalidate` is
        /// there.
        func lifetimeSeconds(sentAt: Int64) -> Int64 {
            if let age = seconds("max-age") { return age }
            if let expires {
                if let end = HTTPDate.unixSeconds(expires, now: now) { return max(0, end - sentAt) }
                if expires == "0" { return 0 }
            }
            guard let lastModified, !mustRevalidate else { return 0 }
            return max(0, sentAt - lastModified) / 10
        }

        func obstacle(lifetime: Int64, stale: Int64) -> UnkeptReason {
            if has("no-store") { return .noStore }
            if isNeverFresh { return .noCache }
            if lifetime + stale > 0 || seconds("max-age") != nil || expires != nil { return .expired }
            if seconds("s-maxage") != nil { return .sharedOnly }
            return hasETag ? .etagOnly : .noLifetime
        }
    }
}

extension Substring {
    /// The text without trailing blanks.
    fileprivate var trimmed: Substring {
        self[..<(lastIndex { $0 != " " && $0 != "\t" }.map { index(after: $0) } ?? startIndex)]
    }
}
