/// The compiled pattern of one component of a URL, with short cuts for the common forms.
///
/// Every chain has a pattern, and a program takes 40 bytes per byte of a pattern. So only patterns without a short
/// cut keep a program.
struct PatternComponent {
    private enum Form {
        case any
        case literal([UInt8])
        case prefix([UInt8])
        case general(PatternProgram)
    }

    private let form: Form
    let groupNames: [String]
    /// The fixed text at the start of every match, in front of a program.
    private let lead: [UInt8]
    init(_ tokens: ArraySlice<PatternToken>, of component: PatternParser.Component) throws(PatternError) {
        let parts = try PatternParser.parts(tokens, of: component)
        let program = PatternProgram(parts, of: component)
        groupNames = program.names
        form = Self.form(parts, program)
        if case .general = form { lead = Self.lead(parts[...]) } else { lead = [] }
    }

    static var any: PatternComponent {
        PatternComponent(form: .any)
    }

    private init(form: Form) {
        self.form = form
        groupNames = []
        lead = []
    }

    /// True if exactly one text matches.
    var isLiteral: Bool { if case .literal = form { true } else { false } }

    /// The fixed text at the start of every match, or a part of it.
    var fixedStart: [UInt8] {
        switch form {
        case .any: []
        case .literal(let bytes), .prefix(let bytes): bytes
        case .general: lead
        }
    }

    var isAny: Bool { if case .any = form { true } else { false } }

    /// Returns true if this pattern obviously matches all that the other one does.
    func covers(_ other: PatternComponent) -> Bool {
        switch form {
        case .any: true
        case .prefix(let bytes): other.fixedStart.starts(with: bytes)
        case .literal(let bytes): other.isLiteral && other.fixedStart == bytes
        case .general: false
        }
    }

    /// Returns true if the whole text matches, and false if the budget ends first.
    func matches(_ text: Span<UInt8>, within budget: inout MatchBudget) -> Bool {
        switch form {
        case .any: true
        case .literal(let bytes): text.count == bytes.count && Self.begins(text, with: bytes)
        case .prefix(let bytes): Self.begins(text, with: bytes)
        case .general(let program):
            Self.begins(text, with: lead) && PatternMatcher.matches(program, text, within: &budget)
        }
    }

    /// Returns the ranges of the groups that took part in the match, by name; nil if the text does not match.
    func captures(_ text: Span<UInt8>) -> [(name: String, range: Range<Int>)]? {
        switch form {
        case .any: groupNames.map { ($0, 0..<text.count) }
        case .literal(let bytes): text.count == bytes.count && Self.begins(text, with: bytes) ? [] : nil
        // The wildcard is the only group.
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

    /// Returns the fixed text of the first part and, if that part is nothing else, the start of the next one.
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
        else { return .general(program) }
        if parts.count == 1 { return last.prefix.isEmpty ? .any : .prefix(last.prefix) }
        return parts.count == 2 && isFixed ? .prefix(first.prefix + last.prefix) : .general(program)
    }
}
