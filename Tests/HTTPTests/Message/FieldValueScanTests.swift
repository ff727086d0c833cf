import Testing

@testable import HTTP

struct FieldValueScanTests {
    // The scan reads eight bytes together: try each byte at each place, among neighbours on both sides of the
    // bounds.
    @Test(arguments: [0x20, 0x21, 0x7e, 0x80, 0xff, 0x09] as [UInt8])
    func `a value ends at the first byte that RFC 9110 section 5.5 leaves out, wherever it is`(other: UInt8) {
        for byte in UInt8.min...UInt8.max {
            let isAllowed = (byte >= 0x20 && byte != 0x7f) || byte == 0x09
            for place in 0..<19 {
                var value = [UInt8](repeating: other, count: 19)
                value[place] = byte
                let (end, before) = (
                    value.span.endOfFieldValue(0..<19), value.span.endOfFieldValue(0..<place)
                )
                guard end != (isAllowed ? 19 : place) || before != place else { continue }
                Issue.record("\(byte) at \(place): \(end), \(before)")
            }
        }
    }

    @Test(arguments: [0x39, 0x3b, 0xba, 0x00, 0xff] as [UInt8])
    func `the first byte of a value is found wherever it is, and no other is taken for it`(other: UInt8) {
        for count in 0..<26 {
            var bytes = [UInt8](repeating: other, count: count)
            #expect(bytes.span.firstIndex(of: ASCII.colon) == nil)
            for place in (0..<count).reversed() {
                bytes[place] = ASCII.colon
                #expect(bytes.span.firstIndex(of: ASCII.colon) == place)
            }
        }
    }

    @Test func `every listed name is found in any case, and nothing that differs from it in one byte is`() {
        for (index, name) in HeaderNameTable.names.enumerated() {
            for spelling in [name, name.lowercased(), name.uppercased()] {
                #expect(Int(HeaderNameTable.shared.id(of: spelling.utf8.span)) == index + 1)
            }
            for place in 0..<name.utf8.count {
                for byte in UInt8.min...UInt8.max where ASCII.isFieldValue(byte) {
                    var other = Array(name.utf8)
                    guard ASCII.lowercased(other[place]) != ASCII.lowercased(byte) else { continue }
                    other[place] = byte
                    if Int(HeaderNameTable.shared.id(of: other.span)) == index + 1 {
                        Issue.record("\(other) is taken for \(name)")
                    }
                }
            }
        }
    }
}
