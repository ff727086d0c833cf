internal import Primitives

/// The setting `types`: media types, in which `*` stands for any run of characters.
///
/// A class, since every response is compared with them, and a copy of its lists would be counted each time.
package final class MediaTypes: Sendable {
    /// The types without `*` in one block, and where each ends.
    private let exact: [UInt8]
    private let exactEnds: [Int]
    /// The same types as strings.
    private let exactTexts: [String]
    private let patterns: [[UInt8]]
    private static let eventStream: StaticString = "text/event-stream"

    /// Takes types and patterns, which are compared without case.
    package init(_ types: [String]) {
        let all = types.map { $0.utf8.map(ASCII.lowercased) }
        let plain = all.filter { !$0.contains(UInt8(ascii: "*")) }
        patterns = all.filter { $0.contains(UInt8(ascii: "*")) }
        exact = Array(plain.joined())
        exactTexts = plain.map { String(decoding: $0, as: UTF8.self) }
        var end = 0
        exactEnds = plain.map { type in
            end += type.count
            return end
        }
    }

    /// Returns true if a Content-Type is in the set; text/event-stream only by its exact name.
    ///
    /// Parameters are ignored.
    package func contains(_ contentType: String?) -> Bool {
        guard let contentType else { return false }
        let bytes = contentType.utf8Bytes
        let text = bytes.span
        // Most have no parameters and the spelling of the setting.
        if index(of: text) != nil { return true }
        let range = Self.essence(in: text)
        guard !range.isEmpty else { return false }
        if isExact(range, in: text) { return true }
        if text.extracting(range).equalsIgnoringCase(Self.eventStream) { return false }
        return patterns.contains { StarPattern.matches($0, range, ignoringCaseOf: text) }
    }

    /// Returns a Content-Type as a string, and allocates it only if it is not in the set in this spelling.
    package func text(of contentType: Span<UInt8>) -> String {
        if let index = index(of: contentType) { return exactTexts[index] }
        return String(contentType.extracting(0..<contentType.count))
    }

    /// Returns the position of a type that has the spelling of the setting.
    private func index(of text: Span<UInt8>) -> Int? {
        index(bytes: text.count) { $0.equals(text) }
    }

    private func isExact(_ range: Range<Int>, in text: Span<UInt8>) -> Bool {
        index(bytes: range.count) { text.extracting(range).equalsIgnoringCase($0) } != nil
    }

    /// Returns the position of the first type of this length that fits; inlined, since every response asks.
    @inline(__always)
    private func index(bytes count: Int, where fits: (Span<UInt8>) -> Bool) -> Int? {
        let types = exact
        var start = 0
        for index in exactEnds.indices {
            let end = exactEnds[index]
            if end - start == count, fits(types.span.extracting(start..<end)) { return index }
            start = end
        }
        return nil
    }

    package static func isEventStream(_ contentType: String?) -> Bool {
        // Nearly all responses end here; the text of a field has no blanks at its ends.
        guard let bytes = contentType?.utf8Bytes, bytes.span.hasPrefixIgnoringCase(eventStream) else {
            return false
        }
        return essence(in: bytes.span).count == eventStream.utf8CodeUnitCount
    }

    /// Returns true if a Content-Type is that of a document, which loads other resources.
    package static func isDocument(_ contentType: String?) -> Bool {
        guard let contentType else { return false }
        let bytes = contentType.utf8Bytes
        let text = bytes.span
        let essence = essence(in: text)
        return text.extracting(essence).equalsIgnoringCase("text/html")
            || text.extracting(essence).equalsIgnoringCase("application/xhtml+xml")
    }

    /// Returns the range of type and subtype, without parameters.
    private static func essence(in text: Span<UInt8>) -> Range<Int> {
        text.trimmedRange(0..<(text.firstIndex(of: ASCII.semicolon) ?? text.count))
    }
}
