/// A bound on the steps of matching patterns from outside.
///
/// The text of a match comes from clients, and the pattern may come from an upstream. Both together could choose a
/// pair that takes long.
package struct MatchBudget: Sendable {
    /// The default, about a millisecond; patterns and paths of real sites need a few hundred steps.
    package static let stepsMax = 1 << 18

    /// The steps that are left; negative once they were too few.
    private(set) var steps: Int

    package init(steps: Int = stepsMax) { self.steps = steps }

    /// A budget without a bound, for patterns that the operator wrote.
    static var unlimited: MatchBudget { MatchBudget(steps: .max) }

    /// True once a match was given up.
    package var isExhausted: Bool { steps < 0 }

    /// Takes steps; returns false if there are too few.
    mutating func spend(_ count: Int = 1) -> Bool {
        steps -= count
        return steps >= 0
    }
}

/// A run of a program over a text, which tries the preferred branch first and backtracks.
///
/// No choice is made twice at the same offset: a branch that failed there once would fail again. So the time is at
/// most instructions times bytes. The memory is as many bits for the splits alone.
struct PatternMatcher {
    private enum Step {
        /// Continue at an instruction and an offset in the text.
        case branch(instruction: Int, offset: Int)
        /// Restore a bound that a failed branch has changed.
        case restore(slot: Int, bound: Int)
    }

    private let instructions: [PatternProgram.Instruction]
    private let length: Int
    private var bounds: [Int]
    private var steps: [Step] = []
    /// A bit for each split and offset at which a choice was made.
    private var seen: [UInt64]

    /// Returns true if the whole text matches, and false if the budget ends first.
    static func matches(_ program: PatternProgram, _ text: Span<UInt8>, within budget: inout MatchBudget)
        -> Bool
    {
        guard budget.spend(bitWords(program, text.count)) else { return false }
        var matcher = PatternMatcher(program, length: text.count, notesBounds: false)
        return matcher.run(text, within: &budget)
    }

    /// Returns the bounds of the groups, two for each, -1 for a group that took no part; nil if the text does not
    /// match.
    static func bounds(_ program: PatternProgram, _ text: Span<UInt8>) -> [Int]? {
        var budget = MatchBudget.unlimited
        var matcher = PatternMatcher(program, length: text.count, notesBounds: true)
        return matcher.run(text, within: &budget) ? matcher.bounds : nil
    }

    private init(_ program: PatternProgram, length: Int, notesBounds: Bool) {
        instructions = program.instructions
        self.length = length
        bounds = notesBounds ? Array(repeating: -1, count: program.names.count * 2) : []
        seen = Array(repeating: 0, count: Self.bitWords(program, length))
    }

    private static func bitWords(_ program: PatternProgram, _ length: Int) -> Int {
        (program.splitCount * (length + 1) + 63) / 64
    }

    private mutating func run(_ text: Span<UInt8>, within budget: inout MatchBudget) -> Bool {
        steps.append(.branch(instruction: 0, offset: 0))
        while let step = steps.popLast() {
            switch step {
            case .restore(let slot, let bound): bounds[slot] = bound
            case .branch(let instruction, let offset):
                if follow(from: instruction, at: offset, in: text, within: &budget) { return true }
                if budget.isExhausted { return false }
            }
        }
        return false
    }

    /// Returns true if this branch leads to the end, and pushes the other branches as steps.
    private mutating func follow(
        from start: Int, at startOffset: Int, in text: Span<UInt8>, within budget: inout MatchBudget
    ) -> Bool {
        var index = start
        var offset = startOffset
        while budget.spend() {
            switch instructions[index] {
            case .byte(let byte):
                guard offset < length, text[offset] == byte else { return false }
                index += 1
                offset += 1
            case .any:
                guard offset < length else { return false }
                index += 1
                offset += 1
            case .segmentByte:
                guard offset < length, text[offset] != UInt8(ascii: "/") else { return false }
                index += 1
                offset += 1
            case .jump(let target): index = target
            case .split(let first, let second, let number):
                guard isNew(number, offset) else { return false }
                steps.append(.branch(instruction: second, offset: offset))
                index = first
            case .save(let slot):
                if !bounds.isEmpty {
                    steps.append(.restore(slot: slot, bound: bounds[slot]))
                    bounds[slot] = offset
                }
                index += 1
            case .match: return offset == length
            }
        }
        return false
    }

    private mutating func isNew(_ split: Int, _ offset: Int) -> Bool {
        let place = split * (length + 1) + offset
        let bit = UInt64(1) << UInt64(place & 63)
        guard seen[place >> 6] & bit == 0 else { return false }
        seen[place >> 6] |= bit
        return true
    }
}
