internal import Primitives

/// The Vary response field (RFC 9110 section 12.5.5).
package enum Vary {
    /// Returns the upstream's field with the missing names added: its order and spelling stay, and `*` stays `*`.
    ///
    /// A malformed line stays behind the added names, so that nothing in it, such as a stray quote, can hide them.
    package static func merged(_ upstream: [String], adding: [String]) -> String {
        let read = upstream.map(Line.init)
        if read.contains(where: { $0.names.contains("*") }) { return "*" }
        // The lines become one, in which what follows a malformed line is behind it.
        let sound = read.prefix((read.firstIndex { !$0.isWellFormed } ?? read.count - 1) + 1)
        let known = sound.flatMap { $0.names.prefix($0.soundCount) }.map { $0.lowercased() }
        let missing = adding.filter { !known.contains($0.lowercased()) }
        let lines = upstream.filter { !$0.allSatisfy { $0 == " " || $0 == "," || $0 == "\t" } }
        return (read.allSatisfy(\.isWellFormed) ? lines + missing : missing + lines).joined(separator: ", ")
    }

    /// Returns the names in the lines, in lower case and in order, with `*` if it is among them.
    ///
    /// A member that is no name counts as `*`: nobody can tell what the response varies by.
    package static func names(_ lines: [String]) -> [String] {
        lines.map(Line.init).flatMap { line in
            line.names.map { $0.lowercased() } + (line.isWellFormed ? [] : ["*"])
        }
    }

    /// The names of one line: tokens between commas, since quotes do not belong here.
    private struct Line {
        private(set) var names: [String] = []
        /// The number of names that stand before anything else.
        private(set) var soundCount = 0
        private(set) var isWellFormed = true

        init(_ line: String) {
            let bytes = line.utf8Bytes
            let text = bytes.span
            var start = 0
            for index in 0...text.count where index == text.count || text[index] == UInt8(ascii: ",") {
                let member = text.trimmedRange(start..<index)
                start = index + 1
                if member.isEmpty { continue }
                let end = FieldSyntax.tokenEnd(from: member.lowerBound, in: text, limit: member.upperBound)
                if end == member.upperBound {
                    names.append(String(text.extracting(member)))
                    if isWellFormed { soundCount += 1 }
                } else {
                    isWellFormed = false
                }
            }
        }
    }
}
