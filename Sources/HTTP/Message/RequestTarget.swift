internal import Primitives

/// The request target as received (RFC 9112 section 3.2), and the places of its parts.
package struct RequestTarget: Sendable {
    /// The four forms of section 3.2.
    package enum Form: Sendable {
        case origin, absolute, authority, asterisk
    }

    package let form: Form
    /// The target byte for byte; visible ASCII only.
    package let text: String
    private let authorityRange: Range<Int>
    private let pathStart: Int
    private let queryStart: Int?

    /// Checks a target; CONNECT takes the authority form, and only OPTIONS takes the asterisk.
    package init(_ target: Span<UInt8>, method: Method) throws(ParseError) {
        try self.init(String(target), method: method)
    }

    /// Checks a target that is a text already.
    package init(_ text: String, method: Method = .get) throws(ParseError) {
        let target = text.utf8.span
        guard !target.isEmpty else { throw .malformedTarget }
        // RFC 9112 3.2: a target has no white space; a fragment (#) is never sent.
        for index in target.indices where !ASCII.isVisible(target[index]) || target[index] == 0x23 {
            throw .malformedTarget
        }
        if method == .connect {
            // RFC 9112 3.2.3: host and port, both required.
            guard Authority(target)?.port != nil else { throw .malformedTarget }
            (form, authorityRange, pathStart) = (.authority, 0..<target.count, target.count)
        } else if target[0] == 0x2f {  // /
            (form, authorityRange, pathStart) = (.origin, 0..<0, 0)
        } else if target.equals("*") {
            guard method == .options else { throw .malformedTarget }
            (form, authorityRange, pathStart) = (.asterisk, 0..<0, 0)
        } else {
            authorityRange = try Self.authority(ofAbsolute: target)
            (form, pathStart) = (.absolute, authorityRange.upperBound)
        }
        queryStart = Self.firstQuestionMark(target, from: pathStart)
        self.text = text
    }

    private init(_ target: RequestTarget, endingAt end: Int) {
        form = target.form
        text = String(target.text.utf8.span.extracting(first: end))
        authorityRange = target.authorityRange
        pathStart = target.pathStart
        queryStart = target.queryStart.flatMap { $0 < end ? $0 : nil }
    }

    /// Returns the target without the last parameter of its query; nil unless that is this text, byte for byte.
    package func without(lastParameter parameter: StaticString) -> RequestTarget? {
        guard let queryStart else { return nil }
        let bytes = text.utf8.span
        // The place of what separates it: an ampersand, or the question mark of the query.
        let end = bytes.count - parameter.utf8CodeUnitCount - 1
        guard end >= queryStart, bytes.extracting(end + 1..<bytes.count).equals(parameter),
            end == queryStart || bytes[end] == UInt8(ascii: "&")
        else { return nil }
        return RequestTarget(self, endingAt: end)
    }

    /// True if an absolute form has neither path nor query.
    package var isBareAuthority: Bool { form == .absolute && pathStart == text.utf8.count }

    /// The path as received; `/` if an absolute form has none, `*` for the asterisk, empty for an authority.
    package var path: String {
        if pathStart == 0, queryStart == nil { return text }
        let end = queryStart ?? text.utf8.count
        if form == .absolute, pathStart == end { return "/" }
        return String(text.utf8.span.extracting(pathStart..<end))
    }

    /// The part after the first question mark, nil if there is none.
    package var query: String? {
        guard let queryStart else { return nil }
        return String(text.utf8.span.extracting(queryStart + 1..<text.utf8.count))
    }

    /// The host and port of an absolute form in lower case, nil for the other forms.
    package var authority: String? {
        guard form == .absolute else { return nil }
        let part = text.utf8.span.extracting(authorityRange)
        return Authority(part)?.normalized(part)
    }

    /// Path and query in origin form; the target itself for an authority or asterisk.
    package var pathAndQuery: [UInt8] {
        var output: [UInt8] = []
        writePathAndQuery(into: &output)
        return output
    }

    /// Appends `pathAndQuery`, the target for an origin (RFC 9112 section 3.2.1).
    package func writePathAndQuery(into output: inout [UInt8]) {
        guard form == .absolute else {
            output.append(text.utf8.span)
            return
        }
        if pathStart == (queryStart ?? text.utf8.count) { output.append("/") }
        output.append(text.utf8.span.extracting(pathStart..<text.utf8.count))
    }

    // RFC 9110 4.2: only http and https, a host that is not empty, no userinfo (4.2.4).
    private static func authority(ofAbsolute target: Span<UInt8>) throws(ParseError) -> Range<Int> {
        let start: Int
        if target.hasPrefixIgnoringCase("http://") {
            start = 7
        } else if target.hasPrefixIgnoringCase("https://") {
            start = 8
        } else {
            throw .malformedTarget
        }
        var end = start
        while end < target.count, target[end] != 0x2f, target[end] != 0x3f { end += 1 }  // / ?
        guard Authority(target.extracting(start..<end)) != nil else { throw .malformedTarget }
        return start..<end
    }

    private static func firstQuestionMark(_ target: Span<UInt8>, from start: Int) -> Int? {
        target.extracting(start..<target.count).firstIndex(of: 0x3f).map { start + $0 }
    }
}
