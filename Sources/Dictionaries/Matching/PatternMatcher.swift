/// The steps that the matching of patterns from outside may take together.
///
/// The text of a match comes from clients and the pattern may come from an upstream: both together could choose a pair
/// that takes long.
package struct MatchBudget: Sendable {
    /// About a millisecond; patterns and paths of real sites need a few hundred steps.
    package static let stepsMax = 1 << 18

    /// The steps that are left; negative once there were too few.
    private(set) var steps: Int

    /// A budget of so many steps.
    package init(steps: Int = stepsMax) { self.steps = steps }

    /// No bound, for patterns that the operator wrote.
    static var unlimited: MatchBudget { MatchBudget(steps: .max) }

    /// True once a match was given up.
    package var isExhausted: Bool { steps < 0 }

    /// Takes steps; false if there are too few.
    mutating func spend(_ count: Int = 1) -> Bool {
        steps -= count
        return steps >= 0
    }
}

/// Runs a program over a text, the preferred way first, and goes back where a way fails.
///
/// No choice is made twice at the same place of the text: what failed there once would fail again. So the time is at
/// most instructions times bytes, and the memory that many bits for the splits alone.
struct PatternMatcher {
    /// What remains to be tried.
    private enum Job {
        /// To go on at an instruction and a place in the text.
        case way(instruction: Int, offset: Int)
        /// To undo a bound that the way noted which has failed.
        case restore(slot: Int, bound: Int)
    }

    private let instructions: [PatternProgram.Instruction]
    private let length: Int
    private var bounds: [Int]
    private var jobs: [Job] = []
    /// A bit for each choice made at a place.
    private var seen: [UInt64]

    /// Whether the whole text matches; false as well where the budget ends.
    static func matches(_ program: PatternProgram, _ text: Span<UInt8>, within budget: inout MatchBudget)
        -> Bool
    {
        guard budget.spend(bitWords(program, text.count)) else { return false }
        var matcher = PatternMatcher(program, length: text.count, notesBounds: false)
        return matcher.run(text, within: &budget)
    }

    /// The bounds of the groups, two for each, -1 for a group that took no part; nil where the text does not match.
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
        jobs.append(.way(instruction: 0, offset: 0))
        while let job = jobs.popLast() {
            switch job {
            case .restore(let slot, let bound): bounds[slot] = bound
            case .way(let instruction, let offset):
                if follow(from: instruction, at: offset, in: text, within: &budget) { return true }
                if budget.isExhausted { return false }
            }
        }
        return false
    }

    /// Whether this way leads to the end; the ways not taken are left as jobs.
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
                jobs.append(.way(instruction: second, offset: offset))
                index = first
            case .save(let slot):
                if !bounds.isEmpty {
                    jobs.append(.restore(slot: slot, bound: bounds[slot]))
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
