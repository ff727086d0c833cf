/// Parts written one after the other, each preceded by its length, so that no other parts make the same bytes.
struct LengthPrefixed {
    private(set) var bytes: [UInt8] = []

    /// Begins with a label that names the purpose of the parts.
    init(_ label: String) {
        append(label)
    }

    mutating func append(_ part: some Collection<UInt8>) {
        let count = UInt64(part.count)
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: count >> UInt64(shift)))
        }
        bytes.append(contentsOf: part)
    }

    mutating func append(_ text: String) {
        append(text.utf8)
    }

    /// Returns the parts that the bytes were made of, the label first; nil if the bytes end too soon.
    static func parts(of bytes: [UInt8]) -> [[UInt8]]? {
        var parts: [[UInt8]] = []
        var start = 0
        while start < bytes.count {
            guard bytes.count - start >= 8 else { return nil }
            let count = bytes[start..<start + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            start += 8
            guard let count = Int(exactly: count), count <= bytes.count - start else { return nil }
            parts.append(Array(bytes[start..<start + count]))
            start += count
        }
        return parts
    }
}
