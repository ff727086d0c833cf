internal import Primitives

/// The paths that recipients may read in one path.
///
/// An application cleans a path before it looks for the resource: it decodes triples, resolves dot segments,
/// and merges slashes. Some decode more than others. A path in the form `plain` has one reading, itself.
package struct PathReadings: Equatable, Sendable {
    /// The path that chooses the route, as `location` of nginx does.
    ///
    /// Unreserved characters are decoded, all other triples have upper-case digits, and characters that URLs always
    /// encode are encoded. Dot segments are resolved, never above the root, and empty segments merged.
    package let routed: String
    /// The other paths that an application may read that also decodes reserved characters and takes backslashes as slashes.
    package let lenient: [String]
    /// The other paths that an application may read that resolves no dot segments.
    package let unresolved: [String]
    /// True if some recipients see segments that others do not: at a backslash, at an encoded slash or backslash, or at a
    /// dot segment with parameters (`..;x`), which Java servers resolve after they have removed the parameters.
    package let hidesSegments: Bool

    /// Reads a path; one that does not begin with a slash, such as `*`, has one reading.
    package init(_ path: String) {
        guard path.utf8.first == UInt8(ascii: "/") else {
            (routed, lenient, unresolved, hidesSegments) = (path, [], [], false)
            return
        }
        let bytes = Array(path.utf8)
        let (decoded, _) = Self.decoded(bytes, all: false)
        let (decodedAll, hasHiddenSlash) = Self.decoded(bytes, all: true)
        let decodedWhole = Self.withoutParametersOfDots(decodedAll)
        // Most triples encode what stays encoded, so that both are the same.
        let spellings = decodedWhole == decoded ? [decoded] : [decoded, decodedWhole]
        let resolved = spellings.map { Self.cleaned($0, resolvesDots: true) }
        let (routed, lenient) = (resolved[0], resolved[resolved.count - 1])
        // RFC 3986 section 5.2.4 resolves dots before anybody merges slashes, and an empty segment has a parent, too.
        let unmerged = spellings.map { Self.cleaned(Self.resolved($0), resolvesDots: true) }
        // A slash that the path spells plainly is a part of its name, as in a plain path.
        let hasOwnSlash = bytes.last == UInt8(ascii: "/")
        self.routed = String(decoding: routed, as: UTF8.self)
        self.lenient = Self.others(
            (hasOwnSlash ? [lenient] : [lenient, Self.withoutSlash(lenient)]) + unmerged, than: routed)
        unresolved = Self.others(spellings.map { Self.cleaned($0, resolvesDots: false) }, than: routed)
        hidesSegments = hasHiddenSlash || decodedWhole != decodedAll
    }

    /// Returns each reading that differs from the routed path, once.
    private static func others(_ readings: [[UInt8]], than routed: [UInt8]) -> [String] {
        var others: [[UInt8]] = []
        for reading in readings where reading != routed && !others.contains(reading) {
            others.append(reading)
        }
        return others.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the path that chooses the route.
    package static func routed(_ path: String) -> String {
        guard path.utf8.first == UInt8(ascii: "/") else { return path }
        let (decoded, _) = decoded(Array(path.utf8), all: false)
        return String(decoding: cleaned(decoded, resolvesDots: true), as: UTF8.self)
    }

    /// Returns a segment as it stands in a routed path.
    package static func routed(segment: some Collection<UInt8>) -> [UInt8] {
        decoded(Array(segment), all: false).bytes
    }

    /// Throws if the path of a pattern has a part that no routed path has, so that the pattern would never match.
    package static func checkRoutable(_ pattern: String) throws(PatternError) {
        let tokens = try PatternSources(pattern, basePath: "/", origin: nil).pathname
        // Groups and braces end the text.
        let text = tokens.map { $0.urlCharacter.flatMap { $0.isASCII ? UInt8($0.value) : nil } ?? 0 }
        for (index, byte) in text.enumerated() {
            if byte == UInt8(ascii: "/"), index > 0, text[index - 1] == byte {
                throw PatternError(
                    offset: tokens[index].offset, "two slashes, which requests never match; expected one")
            }
            guard byte == UInt8(ascii: "%") else { continue }
            let written = Array(text[index..<min(index + 3, text.count)])
            let isTriple = PercentEncoding.triple(at: 0, in: written.span, limit: written.count) != nil
            let expected = routed(segment: isTriple ? written : [byte])
            guard isTriple, expected == written else {
                throw PatternError(
                    offset: tokens[index].offset,
                    "\(String(decoding: isTriple ? written : [byte], as: UTF8.self)), which requests never match; expected "
                        + String(decoding: expected, as: UTF8.self))
            }
        }
    }

    // MARK: Decoding

    /// Returns the path with its triples decoded, all or those of unreserved characters, and whether a slash was hidden.
    ///
    /// A percent sign stays encoded, so that nothing is decoded twice.
    private static func decoded(_ path: [UInt8], all: Bool) -> (bytes: [UInt8], hasHiddenSlash: Bool) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(path.count)
        var hasHiddenSlash = false
        var index = 0
        while index < path.count {
            let triple = PercentEncoding.triple(at: index, in: path.span, limit: path.count)
            let byte = triple ?? path[index]
            index += triple == nil ? 1 : 3
            let isSeparator = byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "/") && triple != nil
            hasHiddenSlash = hasHiddenSlash || isSeparator
            if isSeparator, all {
                bytes.append(UInt8(ascii: "/"))
            } else if byte == UInt8(ascii: "%") || CanonicalText.isEncodedInPath(byte) {
                PercentEncoding.append(byte, to: &bytes)
            } else if triple == nil || all || PercentEncoding.isUnreserved(byte) {
                bytes.append(byte)
            } else {
                PercentEncoding.append(byte, to: &bytes)
            }
        }
        return (bytes, hasHiddenSlash)
    }

    // MARK: Segments

    /// Returns the path without empty segments except the last, and without dot segments if they are resolved.
    private static func cleaned(_ path: [UInt8], resolvesDots: Bool) -> [UInt8] {
        let slash = UInt8(ascii: "/")
        let written = path.split(separator: slash)
        let segments = resolvesDots ? withoutDots(written, dots: dotCount) : written
        var cleaned: [UInt8] = []
        cleaned.reserveCapacity(path.count)
        for segment in segments {
            cleaned.append(slash)
            cleaned += segment
        }
        if cleaned.isEmpty || path.last == slash && cleaned.last != slash { cleaned.append(slash) }
        return cleaned
    }

    /// Returns the path with its dot segments resolved and its empty segments as they are.
    private static func resolved(_ path: [UInt8]) -> [UInt8] {
        let written = path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let segments = withoutDots(written, dots: dotCount)
        return [UInt8(ascii: "/")] + segments.joined(separator: [UInt8(ascii: "/")])
    }

    /// Returns the segments that remain once dot segments are resolved (RFC 3986 section 5.2.4); the last one leaves an
    /// empty segment.
    static func withoutDots(
        _ segments: [ArraySlice<UInt8>], dots: (ArraySlice<UInt8>) -> Int
    ) -> [ArraySlice<UInt8>] {
        var kept: [ArraySlice<UInt8>] = []
        for (index, segment) in segments.enumerated() {
            let count = dots(segment)
            if count == 2 { _ = kept.popLast() }
            if count == 0 {
                kept.append(segment)
            } else if index == segments.count - 1 {
                kept.append([])
            }
        }
        return kept
    }

    /// Returns the path with the parameters of its dot segments removed: `/a/../b` for `/a/..;x/b`.
    private static func withoutParametersOfDots(_ path: [UInt8]) -> [UInt8] {
        let segments = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map {
            segment in
            let name = segment.prefix { $0 != UInt8(ascii: ";") }
            return dotCount(name) > 0 ? name : segment
        }
        return Array(segments.joined(separator: [UInt8(ascii: "/")]))
    }

    private static func withoutSlash(_ path: [UInt8]) -> [UInt8] {
        path.count > 1 && path.last == UInt8(ascii: "/") ? Array(path.dropLast()) : path
    }

    /// Returns 1 for a segment that means the same directory, 2 for one that means the parent, 0 for any other.
    package static func dotCount(_ segment: some Collection<UInt8>) -> Int {
        segment.count <= 2 && segment.allSatisfy { $0 == UInt8(ascii: ".") } ? segment.count : 0
    }
}
