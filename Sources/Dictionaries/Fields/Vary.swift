internal import Primitives

/// The Vary response field (RFC 9110 section 12.5.5).
package enum Vary {
    /// Returns the upstream's field with the missing names added: its order and spelling stay, and `*` stays `*`.
    ///
    /// A malformed line stays behind the added names, so that nothing in it, such as a stray quote, can hide them.
    package static func merged(_ upstream: [String], adding: [String]) -> String {
        let read = upstream.map(members)
        if read.contains(where: { $0.names.contains("*") }) { return "*" }
        let known = read.filter(\.isWellFormed).flatMap(\.names).map { $0.lowercased() }
        let missing = adding.filter { !known.contains($0.lowercased()) }
        let lines = upstream.filter { !$0.allSatisfy { $0 == " " || $0 == "," || $0 == "\t" } }
        let isWellFormed = read.allSatisfy(\.isWellFormed)
        return (isWellFormed ? lines + missing : missing + lines).joined(separator: ", ")
    }

    /// Returns the names in the lines, in lower case and in order, with `*` if it is among them.
    ///
    /// A member that is no name counts as `*`: nobody can tell what the response varies by.
    package static func names(_ lines: [String]) -> [String] {
        lines.flatMap { line in
            let (names, isWellFormed) = members(of: line)
            return names.map { $0.lowercased() } + (isWellFormed ? [] : ["*"])
        }
    }

    /// Returns the names of one line: tokens between commas, since quotes do not belong here.
    private static func members(of line: String) -> (names: [String], isWellFormed: Bool) {
        let bytes = line.utf8Bytes
        let text = bytes.span
        var members: [String] = []
        var isWellFormed = true
        var start = 0
        for index in 0...text.count where index == text.count || text[index] == UInt8(ascii: ",") {
            let member = text.trimmedRange(start..<index)
            start = index + 1
            if member.isEmpty { continue }
            let end = FieldSyntax.tokenEnd(from: member.lowerBound, in: text, limit: member.upperBound)
            if end == member.upperBound {
                members.append(String(text.extracting(member)))
            } else {
                isWellFormed = false
            }
        }
        return (members, isWellFormed)
    }
}
