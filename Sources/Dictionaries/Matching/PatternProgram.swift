/// A pattern compiled for `PatternMatcher`.
struct PatternProgram {
    /// One instruction.
    enum Instruction: Equatable {
        /// Takes this byte.
        case byte(UInt8)
        /// Takes a byte of this set.
        case set(ByteSet)
        /// Goes on at both, the first before the second.
        case split(Int, Int)
        /// Goes on there.
        case jump(Int)
        /// Notes the place as a bound of a group.
        case save(Int)
        /// The end of the pattern: matches where the text ends too.
        case match
    }

    /// More instructions than any sensible pattern needs.
    static let instructionsMax = 4096

    /// The instructions, of which the first is the start.
    var instructions: [Instruction] = []
    /// The names of the groups; group n is bounded by the saves 2n and 2n + 1.
    var names: [String] = []

    /// Compiles the parts of a component.
    static func compile(
        _ parts: [PatternPart], of component: PatternParser.Component
    ) throws(PatternError) -> PatternProgram {
        var program = PatternProgram()
        let segment = component == .pathname ? ByteSet.all.subtracting(ByteSet(UInt8(ascii: "/"))) : .all
        for part in parts { try program.append(part, segment: segment) }
        program.instructions.append(.match)
        guard program.instructions.count <= instructionsMax else {
            throw PatternError(offset: 0, "a pattern that is too large; expected fewer repetitions")
        }
        return program
    }

    private mutating func append(_ part: PatternPart, segment: ByteSet) throws(PatternError) {
        if part.matcher == .fixedText {
            repeated(part.modifier) { program in program.append(part.prefix) }
            return
        }
        let slot = names.count * 2
        names.append(part.name)
        let expression: RegularExpression
        switch part.matcher {
        case .wildcard: expression = .repeated(.set(.all), minimum: 0, maximum: nil, isLazy: false)
        case .regexp(let text, let offset): expression = try RegularExpression.parse(text, offset: offset)
        case .fixedText, .segment:
            expression = .repeated(.set(segment), minimum: 1, maximum: nil, isLazy: true)
        }
        switch part.modifier {
        case .none, .optional:
            repeated(part.modifier) { program in
                program.append(part.prefix)
                program.instructions.append(.save(slot))
                program.append(expression)
                program.instructions.append(.save(slot + 1))
                program.append(part.suffix)
            }
        case .oneOrMore: appendRepeating(part, expression, slot: slot)
        case .zeroOrMore:
            repeated(.optional) { program in program.appendRepeating(part, expression, slot: slot) }
        }
    }

    /// `prefix ( expression ( suffix prefix expression )* ) suffix`: the group holds all repetitions.
    private mutating func appendRepeating(_ part: PatternPart, _ expression: RegularExpression, slot: Int) {
        append(part.prefix)
        instructions.append(.save(slot))
        append(expression)
        repeated(.zeroOrMore) { program in
            program.append(part.suffix)
            program.append(part.prefix)
            program.append(expression)
        }
        instructions.append(.save(slot + 1))
        append(part.suffix)
    }

    private mutating func append(_ bytes: [UInt8]) {
        for byte in bytes { instructions.append(.byte(byte)) }
    }

    /// Appends what `body` appends, as often as the modifier says, preferring more.
    private mutating func repeated(_ modifier: PatternPart.Modifier, _ body: (inout PatternProgram) -> Void) {
        let start = instructions.count
        switch modifier {
        case .none: body(&self)
        case .oneOrMore:
            body(&self)
            instructions.append(.split(start, instructions.count + 1))
        case .optional, .zeroOrMore:
            instructions.append(.match)
            body(&self)
            if modifier == .zeroOrMore { instructions.append(.jump(start)) }
            instructions[start] = .split(start + 1, instructions.count)
        }
    }

    /// Appends a regular expression; beyond the largest program it stops, and `compile` refuses the pattern.
    private mutating func append(_ expression: RegularExpression) {
        guard instructions.count <= Self.instructionsMax else { return }
        switch expression {
        case .set(let set): instructions.append(.set(set))
        case .sequence(let items): for item in items { append(item) }
        case .alternatives(let items): appendAlternatives(items[...])
        case .repeated(let item, let minimum, let maximum, let isLazy):
            for _ in 0..<minimum { append(item) }
            if let maximum {
                appendOptional(item, count: maximum - minimum, isLazy: isLazy)
            } else {
                let start = instructions.count
                instructions.append(.match)
                append(item)
                instructions.append(.jump(start))
                instructions[start] = split(start + 1, instructions.count, isLazy: isLazy)
            }
        }
    }

    private mutating func appendAlternatives(_ items: ArraySlice<RegularExpression>) {
        var ends: [Int] = []
        for (index, item) in zip(items.indices, items) {
            let start = instructions.count
            let isLast = index == items.index(before: items.endIndex)
            if !isLast { instructions.append(.match) }
            append(item)
            if !isLast {
                ends.append(instructions.count)
                instructions.append(.match)
                instructions[start] = .split(start + 1, instructions.count)
            }
        }
        for end in ends { instructions[end] = .jump(instructions.count) }
    }

    /// `(item(item(item)?)?)?`, each way out leading behind the last.
    private mutating func appendOptional(_ item: RegularExpression, count: Int, isLazy: Bool) {
        var starts: [Int] = []
        for _ in 0..<count where instructions.count <= Self.instructionsMax {
            starts.append(instructions.count)
            instructions.append(.match)
            append(item)
        }
        for start in starts { instructions[start] = split(start + 1, instructions.count, isLazy: isLazy) }
    }

    private func split(_ more: Int, _ done: Int, isLazy: Bool) -> Instruction {
        isLazy ? .split(done, more) : .split(more, done)
    }
}
