/// The compiled pattern of one component of a URL, with short cuts for the common forms.
///
/// Only what has no short cut keeps a program, which takes 40 bytes for each byte of a pattern: every chain has a pattern.
struct PatternComponent {
    private enum Form {
        case any
        case literal([UInt8])
        case prefix([UInt8])
        case general(PatternProgram)
    }

    private let form: Form
    /// The names of the groups, in order.
    let groupNames: [String]
    /// The fixed text that every match begins with, where a program finds the rest.
    private let lead: [UInt8]
    /// Compiles the pattern that the tokens write.
    init(_ tokens: ArraySlice<PatternToken>, of component: PatternParser.Component) throws(PatternError) {
        let parts = try PatternParser.parts(tokens, of: component)
        let program = PatternProgram(parts, of: component)
        groupNames = program.names
        form = Self.form(parts, program)
        if case .general = form { lead = Self.lead(parts[...]) } else { lead = [] }
    }

    /// Matches anything.
    static var any: PatternComponent {
        PatternComponent(form: .any)
    }

    private init(form: Form) {
        self.form = form
        groupNames = []
        lead = []
    }

    /// Whether there is only one text that matches.
    var isLiteral: Bool { if case .literal = form { true } else { false } }

    /// The fixed text that every match begins with, or a part of it.
    var fixedStart: [UInt8] {
        switch form {
        case .any: []
        case .literal(let bytes), .prefix(let bytes): bytes
        case .general: lead
        }
    }

    /// Whether every text matches.
    var isAny: Bool { if case .any = form { true } else { false } }

    /// Whether it is plain that this one matches all that the other does.
    func covers(_ other: PatternComponent) -> Bool {
        switch form {
        case .any: true
        case .prefix(let bytes): other.fixedStart.starts(with: bytes)
        case .literal(let bytes): other.isLiteral && other.fixedStart == bytes
        case .general: false
        }
    }

    /// Whether the whole text matches; false as well where the budget ends.
    func matches(_ text: Span<UInt8>, within budget: inout MatchBudget) -> Bool {
        switch form {
        case .any: true
        case .literal(let bytes): text.count == bytes.count && Self.begins(text, with: bytes)
        case .prefix(let bytes): Self.begins(text, with: bytes)
        case .general(let program):
            Self.begins(text, with: lead) && PatternMatcher.matches(program, text, within: &budget)
        }
    }

    /// The ranges of the groups that took part in the match, by name; nil where the text does not match.
    func captures(_ text: Span<UInt8>) -> [(name: String, range: Range<Int>)]? {
        switch form {
        case .any: groupNames.map { ($0, 0..<text.count) }
        case .literal(let bytes): text.count == bytes.count && Self.begins(text, with: bytes) ? [] : nil
        // Its one group is the wildcard.
        case .prefix(let bytes):
            Self.begins(text, with: bytes) ? groupNames.map { ($0, bytes.count..<text.count) } : nil
        case .general(let program): captures(text, by: program)
        }
    }

    private func captures(_ text: Span<UInt8>, by program: PatternProgram)
        -> [(name: String, range: Range<Int>)]?
    {
        guard Self.begins(text, with: lead), let bounds = PatternMatcher.bounds(program, text) else {
            return nil
        }
        var captures: [(name: String, range: Range<Int>)] = []
        for (group, name) in groupNames.enumerated()
        where bounds[2 * group] >= 0 && bounds[2 * group + 1] >= 0 {
            captures.append((name, bounds[2 * group]..<bounds[2 * group + 1]))
        }
        return captures
    }

    private static func begins(_ text: Span<UInt8>, with bytes: [UInt8]) -> Bool {
        guard text.count >= bytes.count else { return false }
        for index in 0..<bytes.count where text[index] != bytes[index] { return false }
        return true
    }

    /// The fixed text of the first part, and, where that is nothing else, what the next one begins with.
    private static func lead(_ parts: ArraySlice<PatternPart>) -> [UInt8] {
        guard let first = parts.first, first.modifier == .none || first.modifier == .oneOrMore else {
            return []
        }
        guard first.matcher == .fixedText, first.modifier == .none else { return first.prefix }
        return first.prefix + lead(parts.dropFirst())
    }

    private static func form(_ parts: [PatternPart], _ program: PatternProgram) -> Form {
        guard let first = parts.first else { return .literal([]) }
        let isFixed = first.matcher == .fixedText && first.modifier == .none
        if parts.count == 1, isFixed { return .literal(first.prefix) }
        guard let last = parts.last, last.matcher == .wildcard, last.modifier == .none, last.suffix.isEmpty
        else {
            return .general(program)
        }
        if parts.count == 1 { return last.prefix.isEmpty ? .any : .prefix(last.prefix) }
        return parts.count == 2 && isFixed ? .prefix(first.prefix + last.prefix) : .general(program)
    }
}
