internal import Primitives

/// The setting `ignore_cookies`: request cookies that reveal no login, such as those of analytics scripts.
///
/// An item is the exact name of a cookie, or a pattern of names with the shape that the value must have:
/// `_ga_*=GS#.*`. In both halves `#` stands for one or more digits and `*` for any characters. Every pattern has a
/// shape, since a name that only begins like a known one may be a session's.
package struct IgnoredCookies: Sendable {
    /// The maximum length of a value; a longer one has no shape.
    private static let valueBytesMax = 4096

    private var names: [[UInt8]] = []
    /// Patterns of names, and the shapes of their values.
    private var patterns: [(name: [UInt8], value: [UInt8])] = []

    /// The cookies that browsers send to any site that embeds a well-known analytics or advertising script.
    package static let defaults =
        [
            // Google Analytics and Ads
            "_ga", "_gid", "_gat", "_gcl_au", "__gads", "__gpi", "__utma", "__utmb", "__utmc", "__utmt",
            "__utmz",
            "_ga_*=GS#.*", "_gat_*=1", "_dc_gtm_*=1",
            // Matomo
            "_pk_id.#.*=*.#.*", "_pk_ses.#.*=1",
            // Meta, TikTok, Pinterest, Snapchat, Reddit, Microsoft
            "_fbp", "_fbc", "_ttp", "_tt_enable_cookie", "_pin_unauth", "_scid", "_rdt_uuid", "_uetsid",
            "_uetvid",
            "_clck", "_clsk",
            // HubSpot, Hotjar, Parse.ly
            "__hstc", "__hssc", "__hssrc", "_hjSessionUser_#=eyJ*", "_hjSession_#=eyJ*", "_parsely_visitor",
        ] + ofBalancers

    /// The cookies by which load balancers of clouds and CDNs find the same server again.
    package static let ofBalancers = [
        "AWSALB", "AWSALBCORS", "AWSALBTG", "AWSALBTGCORS", "AWSELB", "AWSELBCORS", "ARRAffinity",
        "ARRAffinitySameSite", "GCLB", "__cflb", "__cf_bm",
    ]

    /// Reads items; nil if one is neither a name nor a pattern with a shape.
    package init?(_ items: [String]) {
        for item in items {
            guard Self.isItem(item) else { return nil }
            let parts = item.utf8.split(separator: UInt8(ascii: "="), maxSplits: 1)
            if parts.count == 1 {
                names.append(Array(parts[0]))
            } else {
                patterns.append((name: Array(parts[0]), value: Array(parts[1])))
            }
        }
    }

    package init() {}

    /// Returns true if a text is an item: a name without wildcards, or a pattern of names with a shape.
    package static func isItem(_ text: String) -> Bool {
        let parts = text.utf8.split(
            separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = parts.first, 1...256 ~= name.count, name.allSatisfy(ASCII.isToken) else {
            return false
        }
        guard parts.count == 2 else { return !name.contains(where: isWildcard) }
        let value = parts[1]
        // The shape `*` fits every value, so it is refused.
        return 1...256 ~= value.count && value.allSatisfy { 0x21...0x7E ~= $0 && $0 != UInt8(ascii: ";") }
            && value.contains { $0 != UInt8(ascii: "*") } && name.contains { !isWildcard($0) }
    }

    private static func isWildcard(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "*") || byte == UInt8(ascii: "#")
    }

    // MARK: A Cookie field

    /// Returns true if a line of the Cookie field has a cookie that is not ignored.
    ///
    /// A line without any pair returns true as well, since its meaning is unknown.
    package func counts(_ line: Span<UInt8>) -> Bool {
        var pairs = 0
        var start = 0
        while start < line.count {
            let pair = Self.pair(from: start, in: line)
            start = pair.end + 1
            if pair.range.isEmpty { continue }
            pairs += 1
            if !ignores(pair.range, in: line) { return true }
        }
        return pairs == 0
    }

    /// Calls `body` with each pair of a line of the Cookie field that is not ignored.
    package func forEachCounted(in line: Span<UInt8>, _ body: (Span<UInt8>) -> Void) {
        var start = 0
        while start < line.count {
            let pair = Self.pair(from: start, in: line)
            start = pair.end + 1
            if !pair.range.isEmpty, !ignores(pair.range, in: line) { body(line.extracting(pair.range)) }
        }
    }

    /// Returns the pair that begins at an offset, without white space, and the offset of the semicolon behind it.
    private static func pair(from start: Int, in line: Span<UInt8>) -> (range: Range<Int>, end: Int) {
        var end = start
        while end < line.count, line[end] != UInt8(ascii: ";") { end += 1 }
        return (line.trimmedRange(start..<end), end)
    }

    private func ignores(_ pair: Range<Int>, in line: Span<UInt8>) -> Bool {
        guard let sign = pair.first(where: { line[$0] == UInt8(ascii: "=") }) else { return false }
        let name = pair.lowerBound..<sign
        let value = sign + 1..<pair.upperBound
        // Names of cookies are case-sensitive: RFC 6265 section 5.4 sends them as they were set.
        for known in names where Self.equals(known, name, in: line) { return true }
        guard value.count <= Self.valueBytesMax else { return false }
        return patterns.contains { pattern in
            Self.matches(pattern.name, name, in: line) && Self.matches(pattern.value, value, in: line)
        }
    }

    private static func equals(_ known: [UInt8], _ range: Range<Int>, in line: Span<UInt8>) -> Bool {
        guard known.count == range.count else { return false }
        for index in known.indices where known[index] != line[range.lowerBound + index] { return false }
        return true
    }

    private static func matches(_ shape: [UInt8], _ range: Range<Int>, in text: Span<UInt8>) -> Bool {
        StarPattern.matches(shape, range) { position, index in
            guard shape[position] == UInt8(ascii: "#") else {
                return shape[position] == text[index] ? index + 1 : nil
            }
            var next = index
            while next < range.upperBound, ASCII.isDigit(text[next]) { next += 1 }
            return next > index ? next : nil
        }
    }
}

/// Texts in which `*` stands for any characters.
enum StarPattern {
    /// Returns true if a range of a text matches.
    ///
    /// It steps back to the last `*` only, so that the time is at most the product of both lengths.
    ///
    /// - Parameter next: Returns the offset behind one character of the pattern, at these places of pattern and text; nil
    ///   if the text differs.
    @inline(__always)
    static func matches(
        _ pattern: [UInt8], _ range: Range<Int>, next: (_ position: Int, _ index: Int) -> Int?
    ) -> Bool {
        var position = 0
        var index = range.lowerBound
        var star: (position: Int, text: Int)?
        while position < pattern.count || index < range.upperBound {
            if position < pattern.count, pattern[position] == UInt8(ascii: "*") {
                star = (position, index)
                position += 1
            } else if position < pattern.count, index < range.upperBound, let next = next(position, index) {
                position += 1
                index = next
            } else if let last = star, last.text < range.upperBound {
                star = (last.position, last.text + 1)
                position = last.position + 1
                index = last.text + 1
            } else {
                return false
            }
        }
        return true
    }

    /// Returns true if a range of a text matches a pattern in lower case, whatever the case of the text.
    static func matches(_ pattern: [UInt8], _ range: Range<Int>, ignoringCaseOf text: Span<UInt8>) -> Bool {
        matches(pattern, range) { position, index in
            pattern[position] == ASCII.lowercased(text[index]) ? index + 1 : nil
        }
    }
}
