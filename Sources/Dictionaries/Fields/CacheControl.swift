internal import Primitives

/// The directives of a Cache-Control field that Dictum obeys (RFC 9111 section 5.2, RFC 5861, RFC 8246).
///
/// If the field contradicts itself, the stricter reading counts: the shorter of two lifetimes, and 0 for an invalid
/// one.
package struct CacheControl: Equatable, Sendable {
    package var noStore = false
    /// `no-cache`, qualified with field names or not.
    package var noCache = false
    /// `private`, qualified with field names or not.
    package var isPrivate = false
    package var isPublic = false
    package var mustRevalidate = false
    /// True if `must-revalidate` permits sharing the response to Authorization (RFC 9111 section 3.5).
    package var permitsAuthorization = false
    /// `immutable` (RFC 8246).
    package var immutable = false
    package var noTransform = false
    /// `max-age` in seconds.
    package var maxAge: Int?
    /// `s-maxage` in seconds; nil if it is not a number, since the directive permits what would be forbidden
    /// without it.
    package var sMaxAge: Int?
    /// `stale-while-revalidate` in seconds (RFC 5861 section 3).
    package var staleWhileRevalidate: Int?

    package init() {}

    /// Reads the lines of the field; unknown directives are ignored.
    package init(_ lines: [String]) {
        for line in lines {
            read(line.utf8Bytes.span)
        }
    }

    /// True if the response allows shared caches to keep it and use it again (RFC 9111 sections 5.2.2.9 and 5.2.2.10).
    ///
    /// `s-maxage=0` says that only the client's own cache may.
    package var permitsSharing: Bool { isPublic || (sMaxAge ?? 0) > 0 }

    /// Returns true if a text is a valid value of this field (RFC 9111 section 5.2).
    ///
    /// It needs at least one directive, and a number for each directive that takes seconds.
    package static func isWellFormed(_ value: String) -> Bool {
        let bytes = value.utf8Bytes
        let text = bytes.span
        var members = ListMembers(0..<text.count)
        var count = 0
        while let member = members.next(in: text) {
            guard isDirective(member, in: text) else { return false }
            count += 1
        }
        return count > 0
    }

    private static let directivesWithSeconds: [StaticString] = [
        "max-age", "s-maxage", "stale-while-revalidate", "stale-if-error",
    ]

    /// Returns true for one directive: `cache-directive = token [ "=" ( token / quoted-string ) ]`.
    private static func isDirective(_ member: Range<Int>, in text: Span<UInt8>) -> Bool {
        let end = FieldSyntax.tokenEnd(from: member.lowerBound, in: text, limit: member.upperBound)
        guard end > member.lowerBound else { return false }
        let name = member.lowerBound..<end
        let argument = end..<member.upperBound
        if directivesWithSeconds.contains(where: { text.extracting(name).equalsIgnoringCase($0) }) {
            return seconds(argument, in: text) != nil
        }
        guard !argument.isEmpty else { return true }
        guard text[end] == UInt8(ascii: "=") else { return false }
        let value = end + 1..<member.upperBound
        let tokenEnd = FieldSyntax.tokenEnd(from: value.lowerBound, in: text, limit: value.upperBound)
        return !value.isEmpty && (tokenEnd == value.upperBound || FieldSyntax.isQuotedString(value, in: text))
    }

    package mutating func read(_ text: Span<UInt8>) {
        var members = ListMembers(0..<text.count)
        while let member = members.next(in: text) {
            let end = FieldSyntax.tokenEnd(from: member.lowerBound, in: text, limit: member.upperBound)
            apply(member.lowerBound..<end, argument: end..<member.upperBound, in: text)
        }
        if text.firstIndex(of: Self.quote) != nil { forbidBehindQuote(in: text) }
    }

    private static let quote = UInt8(ascii: "\"")

    /// Reads what a quote hides that nothing closes: each directive there that forbids.
    private mutating func forbidBehindQuote(in text: Span<UInt8>) {
        var (start, isOpen) = (0, false)
        for index in text.indices where text[index] == Self.quote { (start, isOpen) = (index, !isOpen) }
        guard isOpen else { return }
        var hidden = CacheControl()
        for index in start...text.count where index == text.count || text[index] == ASCII.comma {
            let member = text.trimmedRange(start..<index)
            start = index + 1
            let end = FieldSyntax.tokenEnd(from: member.lowerBound, in: text, limit: member.upperBound)
            hidden.apply(member.lowerBound..<end, argument: end..<member.upperBound, in: text)
        }
        noStore = noStore || hidden.noStore
        noCache = noCache || hidden.noCache
        isPrivate = isPrivate || hidden.isPrivate
        mustRevalidate = mustRevalidate || hidden.mustRevalidate
        noTransform = noTransform || hidden.noTransform
    }

    private mutating func apply(_ name: Range<Int>, argument: Range<Int>, in text: Span<UInt8>) {
        // A directive that forbids counts with any argument, one that permits only without an argument.
        func isNamed(_ word: StaticString) -> Bool { text.extracting(name).equalsIgnoringCase(word) }
        switch name.count {
        case 6 where isNamed("public"): isPublic = isPublic || argument.isEmpty
        case 7 where isNamed("private"): isPrivate = true
        case 7 where isNamed("max-age"):
            let seconds = Self.seconds(argument, in: text) ?? 0
            maxAge = min(maxAge ?? seconds, seconds)
        case 8 where isNamed("no-store"): noStore = true
        case 8 where isNamed("no-cache"): noCache = true
        case 8 where isNamed("s-maxage"):
            if let seconds = Self.seconds(argument, in: text) { sMaxAge = min(sMaxAge ?? seconds, seconds) }
        case 9 where isNamed("immutable"): immutable = immutable || argument.isEmpty
        case 12 where isNamed("no-transform"): noTransform = true
        case 15 where isNamed("must-revalidate"):
            mustRevalidate = true
            permitsAuthorization = permitsAuthorization || argument.isEmpty
        case 22 where isNamed("stale-while-revalidate"):
            let seconds = Self.seconds(argument, in: text) ?? 0
            staleWhileRevalidate = min(staleWhileRevalidate ?? seconds, seconds)
        default: break
        }
    }

    /// Returns the number of `=N`, or of `="N"`, which a recipient ought to accept as well (RFC 9111 section 5.2).
    private static func seconds(_ argument: Range<Int>, in text: Span<UInt8>) -> Int? {
        guard !argument.isEmpty, text[argument.lowerBound] == UInt8(ascii: "=") else { return nil }
        let value = FieldSyntax.unquoted(argument.lowerBound + 1..<argument.upperBound, in: text)
        return FieldSyntax.deltaSeconds(value, in: text)
    }
}
