import Testing

@testable import HTTP

/// Which streams a connection remembers after their end, so that late frames of theirs do no harm.
struct StreamIdentifiersTests {
    @Test(arguments: [false, true])
    func `of the streams that ended the latest 128 are remembered`(isByClient: Bool) {
        var ids = StreamIdentifiers()
        for number in 1...300 as ClosedRange<Int32> { ids.end(number, byClient: isByClient) }
        let recent = isByClient ? ids.endedByClient : ids.endedEarly
        let known = (1...300 as ClosedRange<Int32>).filter { recent.contains($0) }
        #expect(known == Array(173...300))
        let other = isByClient ? ids.endedEarly : ids.endedByClient
        #expect(!other.contains(300))
    }
}
