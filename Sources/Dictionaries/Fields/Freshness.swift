internal import Primitives

/// The time for which a private cache may use a response (RFC 9111 section 4.2, RFC 5861 section 3).
package struct Freshness: Equatable, Sendable {
    package let lifetimeSeconds: Int64
    /// The seconds beyond the lifetime in which the response may be used while it is revalidated.
    package let staleWhileRevalidateSeconds: Int64
    package let initialAgeSeconds: Int64
    /// The time at which the response was received, in seconds since 1970.
    package let receivedAt: Int64

    /// Reads the fields of a response received at the given time.
    ///
    /// If a field is sent twice, the reading that ends sooner counts.
    package init(
        cacheControl: CacheControl, age: [String] = [], date: [String] = [], expires: [String] = [],
        lastModified: [String] = [], receivedAt: Int64
    ) {
        self.receivedAt = receivedAt
        let sentAt = date.count == 1 ? date.first.flatMap { HTTPDate.unixSeconds($0, now: receivedAt) } : nil
        let apparentAge = max(0, receivedAt - (sentAt ?? receivedAt))
        initialAgeSeconds = max(apparentAge, Self.age(age))
        let mustNotReuse = cacheControl.noStore || cacheControl.noCache
        lifetimeSeconds =
            mustNotReuse
            ? 0
            : Self.lifetime(
                cacheControl, sentAt: sentAt ?? receivedAt, expires: expires, lastModified: lastModified,
                now: receivedAt)
        // RFC 9111 section 5.2.2.2: must-revalidate forbids any use while stale.
        staleWhileRevalidateSeconds =
            mustNotReuse || cacheControl.mustRevalidate ? 0 : Int64(cacheControl.staleWhileRevalidate ?? 0)
    }

    /// Returns the age of the response at the given time (RFC 9111 section 4.2.3).
    package func ageSeconds(at now: Int64) -> Int64 { initialAgeSeconds + max(0, now - receivedAt) }

    /// Returns the seconds for which the response remains fresh, or stale but usable; 0 or less if it is neither.
    ///
    /// A dictionary counts as long.
    package func remainingSeconds(at now: Int64) -> Int64 {
        lifetimeSeconds + staleWhileRevalidateSeconds - ageSeconds(at: now)
    }

    /// Returns the lifetime for a private cache (RFC 9111 section 4.2.1): max-age, then Expires, then the heuristic
    /// of section 4.2.2.
    private static func lifetime(
        _ cacheControl: CacheControl, sentAt: Int64, expires: [String], lastModified: [String], now: Int64
    ) -> Int64 {
        if let maxAge = cacheControl.maxAge { return Int64(maxAge) }
        if !expires.isEmpty {
            // RFC 9111 section 5.3: an invalid date, such as 0, means already expired.
            guard expires.count == 1, let text = expires.first,
                let end = HTTPDate.unixSeconds(text, now: now)
            else { return 0 }
            return max(0, end - sentAt)
        }
        guard lastModified.count == 1, let text = lastModified.first,
            let modifiedAt = HTTPDate.unixSeconds(text, now: now)
        else { return 0 }
        return max(0, sentAt - modifiedAt) / 10
    }

    /// Returns the greatest Age; an invalid one is ignored (RFC 9111 section 5.1).
    ///
    /// Some HTTP clients join lines to a list.
    private static func age(_ lines: [String]) -> Int64 {
        var age = 0
        for member in lines.flatMap({ $0.split(separator: ",") }) {
            let bytes = member.trimmed.utf8Bytes
            age = max(age, FieldSyntax.deltaSeconds(0..<bytes.count, in: bytes.span) ?? 0)
        }
        return Int64(age)
    }
}
