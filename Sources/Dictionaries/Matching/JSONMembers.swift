internal import Primitives

/// A reader of some members of a JSON text (RFC 8259).
///
/// A text that it cannot read has no values: nobody should find out by it what two parsers make of the same text.
package struct JSONMembers {
    package static let bytesMax = 64 << 10
    /// The maximum length of a value, without escapes.
    package static let valueBytesMax = 256
    private static let depthMax = 64

    private struct Malformed: Error {}

    /// The names from the outermost object to each value.
    private let paths: [[[UInt8]]]
    private var index = 0
    private var found: [String?]

    /// Returns the value of each path; nil unless the text is one whole object.
    ///
    /// A member that is missing, or null, has none.
    package static func values(of paths: [[String]], in text: [UInt8]) -> [String?]? {
        guard text.count <= bytesMax else { return nil }
        var reader = JSONMembers(
            paths: paths.map { $0.map { Array($0.utf8) } }, found: Array(repeating: nil, count: paths.count))
        do throws(Malformed) {
            try reader.object(text.span, of: Array(paths.indices), depth: 1)
        } catch {
            return nil
        }
        reader.skipBlanks(text.span)
        return reader.index == text.count ? reader.found : nil
    }

    // MARK: Objects and arrays

    /// Reads an object; `wanted` are the paths whose beginning leads here, none of which ends before.
    private mutating func object(_ text: Span<UInt8>, of wanted: [Int], depth: Int) throws(Malformed) {
        guard depth <= Self.depthMax else { throw Malformed() }
        try take("{", text)
        var names: [[UInt8]] = []
        if takes("}", text) { return }
        repeat {
            let name = try string(text).bytes
            let named = wanted.filter { paths[$0][depth - 1] == name }
            // A member that comes twice has two meanings.
            if !named.isEmpty {
                guard !names.contains(name) else { throw Malformed() }
                names.append(name)
            }
            try take(":", text)
            try value(text, of: named, depth: depth)
        } while takes(",", text)
        try take("}", text)
    }

    private mutating func array(_ text: Span<UInt8>, depth: Int) throws(Malformed) {
        guard depth <= Self.depthMax else { throw Malformed() }
        try take("[", text)
        if takes("]", text) { return }
        repeat { try value(text, of: [], depth: depth) } while takes(",", text)
        try take("]", text)
    }

    private mutating func value(_ text: Span<UInt8>, of named: [Int], depth: Int) throws(Malformed) {
        skipBlanks(text)
        let ending = named.filter { paths[$0].count == depth }
        guard index < text.count else { throw Malformed() }
        switch text[index] {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            // An object has no text that a value could be.
            guard ending.isEmpty else { throw Malformed() }
            if text[index] == UInt8(ascii: "[") { return try array(text, depth: depth + 1) }
            try object(text, of: named, depth: depth + 1)
        case UInt8(ascii: "\""):
            let string = try string(text)
            // Repaired characters are none that were sent.
            if !ending.isEmpty, string.isRepaired { throw Malformed() }
            try note(string.bytes, ending)
        case UInt8(ascii: "a")...UInt8(ascii: "z"):
            let word = taken(text, while: ASCII.isLetter)
            guard ["null", "true", "false"].contains(where: { word.elementsEqual($0.utf8) }) else {
                throw Malformed()
            }
            if word.first != UInt8(ascii: "n") { try note(word, ending) }
        default: try note(try number(text), ending)
        }
    }

    private mutating func note(_ value: [UInt8], _ ending: [Int]) throws(Malformed) {
        guard !ending.isEmpty else { return }
        guard value.count <= Self.valueBytesMax, let text = String(validating: value, as: UTF8.self) else {
            throw Malformed()
        }
        for place in ending { found[place] = text }
    }

    /// Reads a number (RFC 8259 section 6).
    private mutating func number(_ text: Span<UInt8>) throws(Malformed) -> [UInt8] {
        let start = index
        _ = has("-", text)
        if !has("0", text) { try digits(text) }
        if has(".", text) { try digits(text) }
        if has("e", text) || has("E", text) {
            _ = has("+", text) || has("-", text)
            try digits(text)
        }
        return [UInt8](copying: text.extracting(start..<index))
    }

    private mutating func digits(_ text: Span<UInt8>) throws(Malformed) {
        if taken(text, while: ASCII.isDigit).isEmpty { throw Malformed() }
    }

    // MARK: Strings

    private mutating func string(_ text: Span<UInt8>) throws(Malformed) -> (bytes: [UInt8], isRepaired: Bool)
    {
        try take("\"", text)
        var (bytes, isRepaired): ([UInt8], Bool) = ([], false)
        while !has("\"", text) {
            let byte = try next(text)
            switch byte {
            case ..<0x20: throw Malformed()
            case UInt8(ascii: "\\"): if try !escape(text, into: &bytes) { isRepaired = true }
            default: bytes.append(byte)
            }
        }
        return (bytes, isRepaired)
    }

    /// Reads what follows a backslash; returns false for half a character, which is replaced.
    private mutating func escape(_ text: Span<UInt8>, into bytes: inout [UInt8]) throws(Malformed) -> Bool {
        let byte = try next(text)
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): bytes.append(byte)
        case UInt8(ascii: "b"): bytes.append(0x08)
        case UInt8(ascii: "f"): bytes.append(0x0C)
        case UInt8(ascii: "n"): bytes.append(0x0A)
        case UInt8(ascii: "r"): bytes.append(0x0D)
        case UInt8(ascii: "t"): bytes.append(0x09)
        case UInt8(ascii: "u"):
            var value = UInt32(try unit(text))
            let behind = index
            if UTF16.isLeadSurrogate(UInt16(value)), has("\\", text) {
                if has("u", text), case let low = try unit(text), UTF16.isTrailSurrogate(low) {
                    value = 0x10000 + (value - 0xD800) << 10 + (UInt32(low) - 0xDC00)
                } else {
                    index = behind
                }
            }
            let scalar = Unicode.Scalar(value)
            bytes += scalar.flatMap { UTF8.encode($0) } ?? UTF8.encodedReplacementCharacter
            return scalar != nil
        default: throw Malformed()
        }
        return true
    }

    private mutating func unit(_ text: Span<UInt8>) throws(Malformed) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = ASCII.hexadecimal(try next(text)) else { throw Malformed() }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }

    // MARK: Bytes

    private mutating func next(_ text: Span<UInt8>) throws(Malformed) -> UInt8 {
        guard index < text.count else { throw Malformed() }
        defer { index += 1 }
        return text[index]
    }

    /// Takes the next byte if it is this one.
    private mutating func has(_ byte: Unicode.Scalar, _ text: Span<UInt8>) -> Bool {
        guard index < text.count, text[index] == UInt8(ascii: byte) else { return false }
        index += 1
        return true
    }

    /// Takes the next byte behind blanks if it is this one.
    private mutating func takes(_ byte: Unicode.Scalar, _ text: Span<UInt8>) -> Bool {
        skipBlanks(text)
        return has(byte, text)
    }

    private mutating func take(_ byte: Unicode.Scalar, _ text: Span<UInt8>) throws(Malformed) {
        if !takes(byte, text) { throw Malformed() }
    }

    private mutating func taken(_ text: Span<UInt8>, while fits: (UInt8) -> Bool) -> [UInt8] {
        let start = index
        while index < text.count, fits(text[index]) { index += 1 }
        return [UInt8](copying: text.extracting(start..<index))
    }

    private mutating func skipBlanks(_ text: Span<UInt8>) {
        while index < text.count, ASCII.isBlank(text[index]) || text[index] == 0x0A || text[index] == 0x0D {
            index += 1
        }
    }
}
