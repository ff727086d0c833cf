/// Runs a program over a text: all ways at once, byte by byte, the preferred way first.
struct PatternMatcher {
    /// A way: where it is in the program, and the bounds of groups that it has noted.
    private struct Way {
        var instruction: Int
        var bounds: [Int]
    }

    private let program: PatternProgram
    private let noteBounds: Bool
    private var ways: [Way] = []
    private var nextWays: [Way] = []
    /// The step at which an instruction was last reached, so that each is reached once a step.
    private var reachedAt: [Int]
    private var stack: [Way] = []

    /// Whether the whole text matches.
    static func matches(_ program: PatternProgram, _ text: Span<UInt8>) -> Bool {
        var matcher = PatternMatcher(program, noteBounds: false)
        return matcher.run(text) != nil
    }

    /// The bounds of the groups, two for each, -1 for a group that took no part; nil where the text does not match.
    static func bounds(_ program: PatternProgram, _ text: Span<UInt8>) -> [Int]? {
        var matcher = PatternMatcher(program, noteBounds: true)
        return matcher.run(text)
    }

    private init(_ program: PatternProgram, noteBounds: Bool) {
        self.program = program
        self.noteBounds = noteBounds
        reachedAt = Array(repeating: -1, count: program.instructions.count)
    }

    private mutating func run(_ text: Span<UInt8>) -> [Int]? {
        let none = noteBounds ? Array(repeating: -1, count: program.names.count * 2) : []
        follow(Way(instruction: 0, bounds: none), at: 0)
        for offset in 0..<text.count {
            swap(&ways, &nextWays)
            nextWays.removeAll(keepingCapacity: true)
            if ways.isEmpty { return nil }
            for way in ways where takes(text[offset], at: way.instruction) {
                follow(Way(instruction: way.instruction + 1, bounds: way.bounds), at: offset + 1)
            }
        }
        return nextWays.first { program.instructions[$0.instruction] == .match }?.bounds
    }

    private func takes(_ byte: UInt8, at index: Int) -> Bool {
        switch program.instructions[index] {
        case .byte(let wanted): byte == wanted
        case .set(let set): set.contains(byte)
        default: false
        }
    }

    /// Adds the way, or where it leads without taking a byte, to those of the next step.
    private mutating func follow(_ start: Way, at offset: Int) {
        stack.append(start)
        while var way = stack.popLast() {
            guard reachedAt[way.instruction] != offset else { continue }
            reachedAt[way.instruction] = offset
            switch program.instructions[way.instruction] {
            case .jump(let target):
                way.instruction = target
                stack.append(way)
            case .split(let first, let second):
                stack.append(Way(instruction: second, bounds: way.bounds))
                stack.append(Way(instruction: first, bounds: way.bounds))
            case .save(let slot):
                if noteBounds { way.bounds[slot] = offset }
                way.instruction += 1
                stack.append(way)
            case .byte, .set, .match: nextWays.append(way)
            }
        }
    }
}
