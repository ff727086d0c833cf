internal import Primitives

/// A reader of some members of a JSON text (RFC 8259) that passes in pieces.
///
/// It keeps no copy of the text: its memory is bounded by the depth and by the length of one value. What it cannot
/// read has no values, since nobody should find out by it what two parsers make of the same text.
package struct JSONMembers: Sendable {
    /// The maximum length of the text.
    package static let bytesMax = 64 << 10
    /// The maximum length of a value, and of a name that is compared, without escapes.
    package static let valueBytesMax = 256
    static let depthMax = 64

    /// The place in the grammar, which says which byte may follow.
    private enum State {
        case start, value, firstName, firstElement, name, colon, afterValue, end, failed
        case string(isName: Bool)
        case escape(isName: Bool)
        case unicode(isName: Bool, digits: Int, unit: UInt16)
        case literal, number(JSONNumber)
    }

    /// A set of paths, as one bit for each.
    private typealias Paths = UInt16

    /// An object or an array that has not ended.
    private struct Container {
        let isObject: Bool
        /// The paths whose beginning leads here.
        let paths: Paths
    }

    private let paths: [[[UInt8]]]
    private var state = State.start
    private var containers: [Container] = []
    private var count = 0
    /// The text of a name or value, if it is of use.
    private var text: [UInt8] = []
    private var isCollecting = false
    private var isTooLong = false
    /// The first half of a character outside the basic plane.
    private var highSurrogate: UInt16?
    private var isRepaired = false
    /// The paths that the last name continues, and those of them that end with it.
    private var (named, ending): (Paths, Paths) = (0, 0)
    private var seen: Paths = 0
    /// The paths that a name has continued already, by its depth.
    private var continued: [Paths] = []
    private var found: [String?]

    /// Makes a reader of at most 16 paths, each the names from the outermost object to the value.
    package init(_ paths: [[String]]) {
        precondition(paths.count <= Paths.bitWidth, "each path needs a bit")
        self.paths = paths.map { $0.map { Array($0.utf8) } }
        found = Array(repeating: nil, count: paths.count)
    }

    /// The value of each path; nil unless a whole object has been read.
    ///
    /// A member that is missing, or null, has none.
    package var values: [String?]? {
        if case .end = state { found } else { nil }
    }

    /// Reads the next piece of the text.
    package mutating func read(_ piece: Span<UInt8>) {
        if case .failed = state { return }
        count += piece.count
        guard count <= Self.bytesMax else { return fail() }
        for index in piece.indices {
            read(piece[index])
            if case .failed = state { return }
        }
    }

    private mutating func fail() {
        state = .failed
        (containers, text) = ([], [])
    }

    private mutating func read(_ byte: UInt8) {
        switch state {
        case .string(let isName): return readString(byte, isName)
        case .escape(let isName): return readEscape(byte, isName)
        case .unicode(let isName, let digits, let unit):
            return readUnicode(byte, isName, digits: digits, unit: unit)
        case .literal where ASCII.isLetter(byte): return append(byte)
        case .literal: endLiteral()
        case .number(var number):
            if number.read(byte) {
                state = .number(number)
                return append(byte)
            }
            guard number.isWhole else { return fail() }
            endScalar()
        default: break
        }
        if byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { return }
        readToken(byte)
    }

    private mutating func readToken(_ byte: UInt8) {
        switch (state, byte) {
        case (.start, UInt8(ascii: "{")): open(isObject: true, paths: Paths.max)
        case (.firstName, UInt8(ascii: "}")), (.firstElement, UInt8(ascii: "]")): close()
        case (.firstName, UInt8(ascii: "\"")), (.name, UInt8(ascii: "\"")):
            begin(.string(isName: true), isOfUse: containers.last?.paths != 0)
        case (.colon, UInt8(ascii: ":")): state = .value
        case (.value, _), (.firstElement, _): beginValue(byte)
        case (.afterValue, UInt8(ascii: ",")): state = containers.last?.isObject == true ? .name : .value
        case (.afterValue, UInt8(ascii: "}")) where containers.last?.isObject == true: close()
        case (.afterValue, UInt8(ascii: "]")) where containers.last?.isObject == false: close()
        default: fail()
        }
    }

    // MARK: Objects and arrays

    private mutating func beginValue(_ byte: UInt8) {
        if containers.last?.isObject != true { (named, ending) = (0, 0) }
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            // An object has no text that a value could be.
            guard ending == 0 else { return fail() }
            open(isObject: byte == UInt8(ascii: "{"), paths: byte == UInt8(ascii: "{") ? named : 0)
        case UInt8(ascii: "\""): begin(.string(isName: false), isOfUse: ending != 0)
        case UInt8(ascii: "a")...UInt8(ascii: "z"):
            begin(.literal, isOfUse: true)
            append(byte)
        default:
            guard let number = JSONNumber(first: byte) else { return fail() }
            begin(.number(number), isOfUse: ending != 0)
            append(byte)
        }
    }

    private mutating func open(isObject: Bool, paths: Paths) {
        guard containers.count < Self.depthMax else { return fail() }
        containers.append(Container(isObject: isObject, paths: paths))
        state = isObject ? .firstName : .firstElement
    }

    private mutating func close() {
        containers.removeLast()
        state = containers.isEmpty ? .end : .afterValue
    }

    // MARK: Names and values

    private mutating func begin(_ next: State, isOfUse: Bool) {
        state = next
        text.removeAll(keepingCapacity: true)
        (isCollecting, isTooLong, isRepaired) = (isOfUse, false, false)
    }

    private mutating func append(_ byte: UInt8) {
        guard isCollecting else { return }
        if text.count < Self.valueBytesMax { text.append(byte) } else { isTooLong = true }
    }

    private mutating func endName() {
        state = .colon
        (named, ending) = (0, 0)
        guard let within = containers.last?.paths, within != 0, !isTooLong else { return }
        let depth = containers.count
        for (place, path) in paths.enumerated() where within & (1 << place) != 0 {
            guard path.count >= depth, path[depth - 1] == text else { continue }
            if path.count == depth { ending |= 1 << place } else { named |= 1 << place }
        }
        // A member that comes twice has two meanings.
        if continued.count < depth { continued += Array(repeating: 0, count: depth - continued.count) }
        if seen & ending != 0 || continued[depth - 1] & named != 0 { return fail() }
        seen |= ending
        continued[depth - 1] |= named
    }

    private mutating func endScalar() {
        state = .afterValue
        guard ending != 0 else { return }
        guard !isTooLong else { return fail() }
        let value = String(decoding: text, as: UTF8.self)
        // Repaired bytes are none that were sent.
        guard !isRepaired, value.utf8.elementsEqual(text) else { return fail() }
        for place in paths.indices where ending & (1 << place) != 0 { found[place] = value }
    }

    private mutating func endLiteral() {
        switch text {
        case Array("null".utf8): state = .afterValue
        case Array("true".utf8), Array("false".utf8): endScalar()
        default: fail()
        }
    }

    // MARK: Strings

    private mutating func readString(_ byte: UInt8, _ isName: Bool) {
        switch byte {
        case UInt8(ascii: "\\"): state = .escape(isName: isName)
        case UInt8(ascii: "\""):
            endSurrogate()
            if isName { endName() } else { endScalar() }
        case ..<0x20: fail()
        default:
            endSurrogate()
            append(byte)
        }
    }

    private mutating func readEscape(_ byte: UInt8, _ isName: Bool) {
        if byte == UInt8(ascii: "u") {
            state = .unicode(isName: isName, digits: 0, unit: 0)
            return
        }
        endSurrogate()
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): append(byte)
        case UInt8(ascii: "b"): append(0x08)
        case UInt8(ascii: "f"): append(0x0C)
        case UInt8(ascii: "n"): append(0x0A)
        case UInt8(ascii: "r"): append(0x0D)
        case UInt8(ascii: "t"): append(0x09)
        default: return fail()
        }
        state = .string(isName: isName)
    }

    private mutating func readUnicode(_ byte: UInt8, _ isName: Bool, digits: Int, unit: UInt16) {
        guard let digit = ASCII.hexadecimal(byte) else { return fail() }
        let unit = unit << 4 | UInt16(digit)
        guard digits == 3 else {
            state = .unicode(isName: isName, digits: digits + 1, unit: unit)
            return
        }
        state = .string(isName: isName)
        if let high = highSurrogate, UTF16.isTrailSurrogate(unit) {
            highSurrogate = nil
            append(scalar: 0x10000 + (UInt32(high) - 0xD800) << 10 + (UInt32(unit) - 0xDC00))
            return
        }
        endSurrogate()
        if UTF16.isLeadSurrogate(unit) { highSurrogate = unit } else { append(scalar: UInt32(unit)) }
    }

    /// Replaces half a character that no other half follows.
    private mutating func endSurrogate() {
        if let half = highSurrogate.take() { append(scalar: UInt32(half)) }
    }

    private mutating func append(scalar value: UInt32) {
        let scalar = Unicode.Scalar(value)
        isRepaired = isRepaired || scalar == nil
        for byte in scalar.flatMap({ UTF8.encode($0) }) ?? UTF8.encodedReplacementCharacter { append(byte) }
    }
}

/// The grammar of a number (RFC 8259 section 6).
private struct JSONNumber {
    private enum Part { case minus, zero, integer, point, fraction, exponent, sign, power }

    private var part: Part

    init?(first byte: UInt8) {
        switch byte {
        case UInt8(ascii: "-"): part = .minus
        case UInt8(ascii: "0"): part = .zero
        case UInt8(ascii: "1")...UInt8(ascii: "9"): part = .integer
        default: return nil
        }
    }

    /// True if the number may end here.
    var isWhole: Bool {
        switch part {
        case .zero, .integer, .fraction, .power: true
        case .minus, .point, .exponent, .sign: false
        }
    }

    /// Takes the next byte; returns false if it is not one of the number's.
    mutating func read(_ byte: UInt8) -> Bool {
        let isDigit = ASCII.isDigit(byte)
        switch (part, byte) {
        case (.minus, UInt8(ascii: "0")): part = .zero
        case (.minus, _) where isDigit: part = .integer
        case (.integer, _) where isDigit: break
        case (.zero, UInt8(ascii: ".")), (.integer, UInt8(ascii: ".")): part = .point
        case (.point, _) where isDigit: part = .fraction
        case (.fraction, _) where isDigit: break
        case (.zero, UInt8(ascii: "e")), (.integer, UInt8(ascii: "e")), (.fraction, UInt8(ascii: "e")),
            (.zero, UInt8(ascii: "E")), (.integer, UInt8(ascii: "E")), (.fraction, UInt8(ascii: "E")):
            part = .exponent
        case (.exponent, UInt8(ascii: "+")), (.exponent, UInt8(ascii: "-")): part = .sign
        case (.exponent, _) where isDigit, (.sign, _) where isDigit, (.power, _) where isDigit: part = .power
        default: return false
        }
        return true
    }
}
