/// The parser of regexp groups.
struct RegularExpressionParser {
    /// The deepest nesting of groups.
    static let depthMax = 16
    /// The greatest count of `{n,m}`.
    static let countMax = 256

    private let scalars: [Unicode.Scalar]
    private let offset: Int
    private var index = 0
    private var depth = 0

    /// A parser of the text, whose first character is at the given place of the pattern.
    init(_ scalars: [Unicode.Scalar], offset: Int) {
        self.scalars = scalars
        self.offset = offset
    }

    /// The expression that the whole text is.
    mutating func whole() throws(PatternError) -> RegularExpression {
        let expression = try alternatives()
        guard index == scalars.count else { throw error("a parenthesis without its partner") }
        return expression
    }

    private var current: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

    private func error(_ text: String) -> PatternError {
        PatternError(offset: offset + min(index, scalars.count), "\(text) in a regular expression")
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard current == scalar else { return false }
        index += 1
        return true
    }

    private mutating func alternatives() throws(PatternError) -> RegularExpression {
        var items = [try sequence()]
        while take("|") { items.append(try sequence()) }
        return items.count == 1 ? items[0] : .alternatives(items)
    }

    private mutating func sequence() throws(PatternError) -> RegularExpression {
        var items: [RegularExpression] = []
        while let scalar = current, scalar != "|", scalar != ")" {
            let item = try atom()
            items.append(try repeated(item))
        }
        return .sequence(items)
    }

    private mutating func atom() throws(PatternError) -> RegularExpression {
        guard let scalar = current else { throw error("an end too early") }
        index += 1
        switch scalar {
        case ".": return .set(.all)
        case "[": return .set(try characterClass())
        case "\\": return .set(try escape())
        case "(": return try group()
        case "*", "+", "?", "{", "}", "]", "^", "$":
            index -= 1
            throw error("\(scalar) where it has no meaning; expected \\\(scalar) for the character itself")
        default:
            // URL Pattern Standard: a regular expression is of ASCII only; URLs write the rest as triples.
            guard scalar.isASCII else {
                index -= 1
                throw error("\(scalar), which URLs write percent-encoded,")
            }
            return .set(ByteSet(UInt8(truncatingIfNeeded: scalar.value)))
        }
    }

    private mutating func group() throws(PatternError) -> RegularExpression {
        guard take("?"), take(":") else { throw error("a group other than (?:…)") }
        depth += 1
        guard depth <= Self.depthMax else { throw error("groups too deep in each other") }
        let expression = try alternatives()
        guard take(")") else { throw error("a group that is never closed") }
        depth -= 1
        return expression
    }

    private mutating func repeated(_ item: RegularExpression) throws(PatternError) -> RegularExpression {
        let bounds: (Int, Int?)
        if take("*") {
            bounds = (0, nil)
        } else if take("+") {
            bounds = (1, nil)
        } else if take("?") {
            bounds = (0, 1)
        } else if take("{") {
            bounds = try counts()
        } else {
            return item
        }
        return .repeated(item, minimum: bounds.0, maximum: bounds.1, isLazy: take("?"))
    }

    /// `n}`, `n,}` or `n,m}`.
    private mutating func counts() throws(PatternError) -> (Int, Int?) {
        let minimum = try count()
        var maximum: Int? = minimum
        if take(",") { maximum = current == "}" ? nil : try count() }
        guard take("}"), minimum <= maximum ?? .max else { throw error("a malformed {n,m}") }
        return (minimum, maximum)
    }

    private mutating func count() throws(PatternError) -> Int {
        var value: Int?
        while let scalar = current, ("0"..."9").contains(scalar) {
            value = (value ?? 0) * 10 + Int(scalar.value - 48)
            guard let value, value <= Self.countMax else { throw error("a count beyond \(Self.countMax)") }
            index += 1
        }
        guard let value else { throw error("a malformed {n,m}") }
        return value
    }

    /// The set behind `\`.
    private mutating func escape() throws(PatternError) -> ByteSet {
        guard let scalar = current else { throw error("a backslash at the end") }
        index += 1
        if let set = Self.named(scalar) { return set }
        guard scalar.isASCII, !scalar.properties.isAlphabetic, !("0"..."9").contains(scalar) else {
            throw error("\\\(scalar), which is not supported")
        }
        return ByteSet(UInt8(truncatingIfNeeded: scalar.value))
    }

    private static func named(_ scalar: Unicode.Scalar) -> ByteSet? {
        let digits = ByteSet(UInt8(ascii: "0")...UInt8(ascii: "9"))
        var word = digits
        word.formUnion(ByteSet(UInt8(ascii: "a")...UInt8(ascii: "z")))
        word.formUnion(ByteSet(UInt8(ascii: "A")...UInt8(ascii: "Z")))
        word.insert(UInt8(ascii: "_"))
        var space = ByteSet(0x09...0x0D)
        space.insert(0x20)
        switch scalar {
        case "d": return digits
        case "D": return ByteSet.all.subtracting(digits)
        case "w": return word
        case "W": return ByteSet.all.subtracting(word)
        case "s": return space
        case "S": return ByteSet.all.subtracting(space)
        default: return nil
        }
    }

    /// The set between `[` and `]`; characters beyond ASCII cannot stand in it, since URLs write them as several bytes.
    private mutating func characterClass() throws(PatternError) -> ByteSet {
        let isNegated = take("^")
        var set = ByteSet()
        while !take("]") {
            let first = try classMember()
            guard current == "-", index + 1 < scalars.count, scalars[index + 1] != "]" else {
                set.formUnion(first.set)
                continue
            }
            index += 1
            let last = try classMember()
            guard let lower = first.byte, let upper = last.byte, lower <= upper else {
                throw error("a malformed range")
            }
            set.formUnion(ByteSet(lower...upper))
        }
        return isNegated ? ByteSet.all.subtracting(set) : set
    }

    private mutating func classMember() throws(PatternError) -> (set: ByteSet, byte: UInt8?) {
        guard let scalar = current, scalar.isASCII else {
            throw error("a class that is never closed, or not of ASCII,")
        }
        index += 1
        if scalar == "\\" {
            let escaped = current
            let set = try escape()
            let byte = escaped.flatMap { Self.named($0) == nil ? UInt8(truncatingIfNeeded: $0.value) : nil }
            return (set, byte)
        }
        let byte = UInt8(truncatingIfNeeded: scalar.value)
        return (ByteSet(byte), byte)
    }
}
