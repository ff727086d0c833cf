internal import Dictionaries
internal import Testing

struct ContentCodingTests {
    @Test func `each coding has the place that the list of all gives it, and equals no other`() {
        #expect(ContentCoding.allCases.map(\.index) == Array(ContentCoding.allCases.indices))
        #expect(Set(ContentCoding.allCases).count == ContentCoding.allCases.count)
        for coding in ContentCoding.allCases {
            #expect(ContentCoding.allCases.filter { $0 == coding }.map(\.token) == [coding.token])
        }
    }
}
