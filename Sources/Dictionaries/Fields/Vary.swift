internal import Primitives

/// The Vary response field (RFC 9110 section 12.5.5).
package enum Vary {
    /// Returns the upstream's field with the missing names added: its order and spelling stay, and `*` stays `*`.
    package static func merged(_ upstream: [String], adding: [String]) -> String {
        if upstream.isEmpty { return adding.joined(separator: ", ") }
        let known = names(upstream)
        if known.contains("*") { return "*" }
        let missing = adding.filter { !known.contains($0.lowercased()) }
        let spelled = upstream.compactMap(Self.spelled)
        return (spelled + missing).joined(separator: ", ")
    }

    /// Returns a line unchanged if it has only names; otherwise its names, so that a stray quote cannot hide later
    /// ones.
    private static func spelled(_ line: String) -> String? {
        let isPlain = line.utf8.allSatisfy {
            ASCII.isToken($0) || ASCII.isBlank($0) || $0 == UInt8(ascii: ",")
        }
        let members = members(of: line)
        if members.isEmpty { return nil }
        return isPlain ? line : members.joined(separator: ", ")
    }

    /// Returns the names in the lines, in lower case and in order, with `*` if it is among them.
    package static func names(_ lines: [String]) -> [String] {
        lines.flatMap { members(of: $0) }.map { $0.lowercased() }
    }

    /// Returns the names of one line: tokens between commas, since quotes do not belong here.
    private static func members(of line: String) -> [String] {
        let bytes = line.utf8Bytes
        let text = bytes.span
        var members: [String] = []
        var start = 0
        for index in 0...text.count where index == text.count || text[index] == UInt8(ascii: ",") {
            let member = text.trimmedRange(start..<index)
            start = index + 1
            let end = FieldSyntax.tokenEnd(from: member.lowerBound, in: text, limit: member.upperBound)
            if !member.isEmpty, end == member.upperBound {
                members.append(String(text.extracting(member)))
            }
        }
        return members
    }
}
