internal import Primitives

/// The request target as received (RFC 9112 section 3.2), and the places of its parts.
package struct RequestTarget: Sendable {
    /// The four forms of section 3.2.
    package enum Form: Sendable {
        case origin, absolute, authority, asterisk
    }

    package let form: Form
    /// The target byte for byte; visible ASCII only.
    package let bytes: [UInt8]
    private let authorityRange: Range<Int>
    private let pathStart: Int
    private let queryStart: Int?

    /// Checks a target; CONNECT takes the authority form, and only OPTIONS takes the asterisk.
    package init(_ target: Span<UInt8>, method: Method) throws(ParseError) {
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
        bytes = [UInt8](copying: target)
    }

    private init(_ target: RequestTarget, endingAt end: Int) {
        form = target.form
        bytes = Array(target.bytes[..<end])
        authorityRange = target.authorityRange
        pathStart = target.pathStart
        queryStart = target.queryStart.flatMap { $0 < end ? $0 : nil }
    }

    /// Returns the target without the last parameter of its query; nil unless that is this text, byte for byte.
    package func without(lastParameter text: StaticString) -> RequestTarget? {
        // The place of what separates it: an ampersand, or the question mark of the query.
        let end = bytes.count - text.utf8CodeUnitCount - 1
        guard let queryStart, end >= queryStart, bytes.span.extracting(end + 1..<bytes.count).equals(text),
            end == queryStart || bytes[end] == UInt8(ascii: "&")
        else { return nil }
        return RequestTarget(self, endingAt: end)
    }

    /// Checks a target from configuration or code.
    package init(_ target: String, method: Method = .get) throws(ParseError) {
        try self.init(target.utf8.span, method: method)
    }

    /// True if an absolute form has neither path nor query.
    package var isBareAuthority: Bool { form == .absolute && pathStart == bytes.count }

    /// The path as received; `/` if an absolute form has none, `*` for the asterisk, empty for an authority.
    package var path: String {
        let end = queryStart ?? bytes.count
        if form == .absolute, pathStart == end { return "/" }
        return String(bytes.span.extracting(pathStart..<end))
    }

    /// The part after the first question mark, nil if there is none.
    package var query: String? {
        guard let queryStart else { return nil }
        return String(bytes.span.extracting(queryStart + 1..<bytes.count))
    }

    /// The host and port of an absolute form in lower case, nil for the other forms.
    package var authority: String? {
        guard form == .absolute else { return nil }
        let part = bytes.span.extracting(authorityRange)
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
            output.append(bytes.span)
            return
        }
        if pathStart == (queryStart ?? bytes.count) { output.append("/") }
        output.append(bytes.span.extracting(pathStart..<bytes.count))
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
        for index in start..<target.count where target[index] == 0x3f { return index }
        return nil
    }
}
