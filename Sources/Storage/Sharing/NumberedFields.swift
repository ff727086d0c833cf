/// Fields that nodes of different releases exchange: a number, a length and a value each.
///
/// Readers skip numbers that they do not know, so that a newer release may add fields.
struct NumberedFields {
    private(set) var bytes: [UInt8] = []

    /// The greatest number of fields that are read.
    private static let countMax = 4096

    mutating func append(_ number: UInt8, _ value: some Collection<UInt8>) {
        bytes.append(number)
        Self.append(length: value.count, to: &bytes)
        bytes.append(contentsOf: value)
    }

    mutating func append(_ number: UInt8, _ text: String) { append(number, text.utf8) }

    /// Appends a number as eight bytes, the most significant first.
    mutating func append(_ number: UInt8, _ value: Int64) {
        append(number, BigEndian.bytes(UInt64(bitPattern: value)))
    }

    /// Returns the fields of some bytes; nil if they end within a field.
    static func read(_ bytes: ArraySlice<UInt8>) -> [(number: UInt8, value: ArraySlice<UInt8>)]? {
        var fields: [(UInt8, ArraySlice<UInt8>)] = []
        var rest = bytes
        while let number = rest.popFirst() {
            guard fields.count < countMax, let value = takePart(&rest) else { return nil }
            fields.append((number, value))
        }
        return fields
    }

    // MARK: Parts with a length

    /// Appends a part, preceded by its length.
    static func append(part: some Collection<UInt8>, to bytes: inout [UInt8]) {
        append(length: part.count, to: &bytes)
        bytes.append(contentsOf: part)
    }

    /// Removes a part from the front of some bytes; nil if they do not have it whole.
    static func takePart(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let count = takeLength(&rest), count <= rest.count else { return nil }
        let part = rest.prefix(count)
        rest = rest.dropFirst(count)
        return part
    }

    /// Returns the parts of some bytes, up to one that they do not have whole.
    static func parts(of bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        var (parts, rest) = ([ArraySlice<UInt8>](), bytes[...])
        while !rest.isEmpty, let part = takePart(&rest) { parts.append(part) }
        return parts
    }

    /// Appends a length in groups of seven bits, the least significant first.
    private static func append(length: Int, to bytes: inout [UInt8]) {
        var rest = UInt32(clamping: length)
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    private static func takeLength(_ rest: inout ArraySlice<UInt8>) -> Int? {
        var length = 0
        for shift in stride(from: 0, to: 28, by: 7) {
            guard let byte = rest.popFirst() else { return nil }
            length |= Int(byte & 0x7f) << shift
            if byte < 0x80 { return length }
        }
        return nil
    }
}
