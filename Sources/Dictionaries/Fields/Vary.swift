/// The Vary response field (RFC 9110 section 12.5.5).
package enum Vary {
    /// The upstream's field with names added that it lacks: its order and spelling stay, `*` stays `*`.
    package static func merged(_ upstream: [String], adding: [String]) -> String {
        if upstream.isEmpty { return adding.joined(separator: ", ") }
        let known = names(upstream)
        if known.contains("*") { return "*" }
        let missing = adding.filter { !known.contains($0.lowercased()) }
        let spelled = upstream.filter { line in
            line.utf8.contains { $0 != UInt8(ascii: ",") && !FieldSyntax.isWhitespace($0) }
        }
        return (spelled + missing).joined(separator: ", ")
    }

    /// The names that the lines hold, in lower case and in order; `*` among them as it stands.
    package static func names(_ lines: [String]) -> [String] {
        var names: [String] = []
        for line in lines {
            let bytes = line.utf8
            let text = bytes.span
            var members = ListMembers(0..<text.count)
            while let member = members.next(in: text) {
                names.append(FieldSyntax.string(member, in: text).lowercased())
            }
        }
        return names
    }
}
