internal import Primitives

/// The Link response field, for the relation `compression-dictionary` (RFC 8288, RFC 9842 section 3).
package enum LinkField {
    /// The maximum number of targets; further ones are ignored.
    package static let targetsMax = 16

    package static func dictionary(_ target: String) -> String {
        "<\(target)>; rel=\"compression-dictionary\""
    }

    /// Returns the targets of relation `compression-dictionary` as written, in order.
    ///
    /// Links with an anchor are ignored, since they belong to another context.
    package static func dictionaryTargets(_ lines: [String]) -> [String] {
        var targets: [String] = []
        for line in lines {
            collect(from: line.utf8Bytes.span, into: &targets)
        }
        return targets
    }

    private static func collect(from text: Span<UInt8>, into targets: inout [String]) {
        var offset = 0
        while offset < text.count, targets.count < targetsMax {
            let byte = text[offset]
            if ASCII.isBlank(byte) || byte == UInt8(ascii: ",") {
                offset += 1
                continue
            }
            // RFC 8288 appendix B.2: anything but a target in angle brackets ends the parsing.
            guard byte == UInt8(ascii: "<"),
                let close = (offset..<text.count).first(where: { text[$0] == UInt8(ascii: ">") })
            else { return }
            // A target may contain commas, a parameter only inside quotes. So the target is passed over first.
            var members = ListMembers(close + 1..<text.count)
            guard let parameters = members.nextOrEmpty(in: text) else { return }
            if isDictionary(parameters, in: text) {
                targets.append(String(text.extracting(offset + 1..<close)))
            }
            offset = parameters.upperBound
        }
    }

    private static func isDictionary(_ parameters: Range<Int>, in text: Span<UInt8>) -> Bool {
        var isRelated = false
        var isRelationSeen = false
        var members = ListMembers(parameters, separator: UInt8(ascii: ";"))
        while let parameter = members.next(in: text) {
            let nameEnd = FieldSyntax.tokenEnd(
                from: parameter.lowerBound, in: text, limit: parameter.upperBound)
            let name = parameter.lowerBound..<nameEnd
            if text.extracting(name).equalsIgnoringCase("anchor") { return false }
            // RFC 8288 section 3.3: only the first rel counts.
            if text.extracting(name).equalsIgnoringCase("rel"), !isRelationSeen {
                isRelationSeen = true
                isRelated = namesDictionary(nameEnd..<parameter.upperBound, in: text)
            }
        }
        return isRelated
    }

    /// Returns true if `= relation` or `= "relation relation"` contains `compression-dictionary`.
    private static func namesDictionary(_ range: Range<Int>, in text: Span<UInt8>) -> Bool {
        var value = text.trimmedRange(range)
        guard !value.isEmpty, text[value.lowerBound] == UInt8(ascii: "=") else { return false }
        value = FieldSyntax.unquoted(text.trimmedRange(value.lowerBound + 1..<value.upperBound), in: text)
        var relations = ListMembers(value, separator: UInt8(ascii: " "))
        while let relation = relations.next(in: text) {
            if text.extracting(relation).equalsIgnoringCase("compression-dictionary") { return true }
        }
        return false
    }
}

/// The path of a dictionary that a Link names: `/.dictum/CHAIN/DIGEST`, both in base64url.
package struct DictionaryPath: Hashable, Sendable {
    /// The start of all of Dictum's own paths.
    package static let prefix = "/.dictum/"
    /// The script by which pages have twin URLs fetched.
    package static let ownScript = prefix + "own.js"
    /// The last parameter of a twin URL's query, behind those of the resource.
    package static let twinMarker: StaticString = "dictum-own"
    package static let chainNameLength = 22

    package let chainName: String
    package let digest: Digest

    package init(chainName: String, digest: Digest) {
        self.chainName = chainName
        self.digest = digest
    }

    package static func twin(of pathAndQuery: String) -> String {
        "\(pathAndQuery)\(pathAndQuery.contains("?") ? "&" : "?")\(twinMarker)"
    }

    /// Reads a path; nil for any other form.
    package init?(_ path: String) {
        guard path.hasPrefix(Self.prefix) else { return nil }
        let parts = path.dropFirst(Self.prefix.count).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let digest = Digest(base64URL: String(parts[1])),
            parts[0].utf8.count == Self.chainNameLength
        else { return nil }
        self.init(chainName: String(parts[0]), digest: digest)
    }

    /// Returns true if a path is one of Dictum's own, which no upstream ever sees.
    package static func isReserved(_ path: String) -> Bool {
        let (bytes, prefixBytes) = (path.utf8Bytes, prefix.utf8Bytes)
        let (text, prefix) = (bytes.span, prefixBytes.span)
        // The slash at the end may be missing.
        guard text.count >= prefix.count - 1 else { return false }
        for index in 0..<min(text.count, prefix.count) where text[index] != prefix[index] { return false }
        return true
    }

    package var text: String { "\(Self.prefix)\(chainName)/\(digest.base64URL)" }
}
