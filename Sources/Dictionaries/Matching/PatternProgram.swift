/// A pattern compiled for `PatternMatcher`.
struct PatternProgram {
    enum Instruction: Equatable {
        case byte(UInt8)
        case any
        /// Takes any byte but a slash.
        case segmentByte
        /// Tries the first target, then the second; each split has a number of its own.
        case split(Int, Int, number: Int)
        case jump(Int)
        /// Saves the offset as a bound of a group.
        case save(Int)
        /// Matches if the text ends here too.
        case match
    }

    /// The instructions, at most a few for each byte of the pattern; the first is the start.
    private(set) var instructions: [Instruction] = []
    private(set) var splitCount = 0
    /// The names of the groups; the saves 2n and 2n + 1 bound group n.
    private(set) var names: [String] = []

    init(_ parts: [PatternPart], of component: PatternParser.Component) {
        let segmentByte: Instruction = component == .pathname ? .segmentByte : .any
        for part in parts { append(part, segmentByte: segmentByte) }
        instructions.append(.match)
    }

    private mutating func append(_ part: PatternPart, segmentByte: Instruction) {
        if part.matcher == .fixedText {
            repeated(part.modifier) { program in program.append(part.prefix) }
            return
        }
        let slot = names.count * 2
        names.append(part.name)
        func group(_ program: inout PatternProgram) {
            switch part.matcher {
            case .wildcard: program.repeated(.zeroOrMore) { $0.instructions.append(.any) }
            case .fixedText, .segment: program.appendShortest(segmentByte)
            }
        }
        switch part.modifier {
        case .none, .optional:
            repeated(part.modifier) { program in
                program.append(part.prefix)
                program.instructions.append(.save(slot))
                group(&program)
                program.instructions.append(.save(slot + 1))
                program.append(part.suffix)
            }
        case .oneOrMore: appendRepeating(part, slot: slot, group)
        case .zeroOrMore:
            repeated(.optional) { program in program.appendRepeating(part, slot: slot, group) }
        }
    }

    /// Appends `prefix ( group ( suffix prefix group )* ) suffix`: the group has all repetitions.
    private mutating func appendRepeating(
        _ part: PatternPart, slot: Int, _ group: (inout PatternProgram) -> Void
    ) {
        append(part.prefix)
        instructions.append(.save(slot))
        group(&self)
        repeated(.zeroOrMore) { program in
            program.append(part.suffix)
            program.append(part.prefix)
            group(&program)
        }
        instructions.append(.save(slot + 1))
        append(part.suffix)
    }

    private mutating func append(_ bytes: [UInt8]) {
        for byte in bytes { instructions.append(.byte(byte)) }
    }

    /// Appends one or more of the instruction, preferring fewer.
    private mutating func appendShortest(_ instruction: Instruction) {
        let start = instructions.count
        instructions.append(instruction)
        instructions.append(split(start + 2, start))
    }

    /// Appends the instructions of `body` as often as the modifier says, preferring more repetitions.
    private mutating func repeated(_ modifier: PatternPart.Modifier, _ body: (inout PatternProgram) -> Void) {
        let start = instructions.count
        switch modifier {
        case .none: body(&self)
        case .oneOrMore:
            body(&self)
            instructions.append(split(start, instructions.count + 1))
        case .optional, .zeroOrMore:
            instructions.append(.match)
            body(&self)
            if modifier == .zeroOrMore { instructions.append(.jump(start)) }
            instructions[start] = split(start + 1, instructions.count)
        }
    }

    private mutating func split(_ first: Int, _ second: Int) -> Instruction {
        defer { splitCount += 1 }
        return .split(first, second, number: splitCount)
    }
}
