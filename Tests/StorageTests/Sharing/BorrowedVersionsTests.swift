import Testing

@testable import Storage

/// The versions of other nodes that are in memory only.
@Suite struct BorrowedVersionsTests {
    @Test func `the second request for a version makes it one of this node, and the first does not`() {
        var borrowed = BorrowedVersions(bytesMax: 100_000)
        let unknown = borrowed.want(1)
        #expect(!unknown)
        for id in [1, 2] as [Int64] { _ = borrowed.insert(id, bytes: 1_000) }
        let first = [borrowed.want(1), borrowed.want(1), borrowed.want(2)]
        #expect(first == [false, true, false])
        // It has come again, as another version would.
        let gone = borrowed.insert(1, bytes: 1_000)
        let anew = borrowed.want(1)
        #expect(gone.isEmpty && !anew)
    }

    @Test func `the oldest goes for a new one, and one that is too large goes itself`() {
        var borrowed = BorrowedVersions(bytesMax: 100_000)
        let gone = ([1, 2, 3] as [Int64]).map { borrowed.insert($0, bytes: 45_000) }
        #expect(gone.map(\.count) == [0, 0, 1] && gone[2] == [1])
        let tooLarge = borrowed.insert(4, bytes: 100_001)
        #expect(tooLarge == [4])
        #expect(!borrowed.contains(4) && borrowed.contains(2) && borrowed.contains(3))
        let isRemoved = [borrowed.remove(2), borrowed.remove(2)]
        #expect(isRemoved == [true, false])
    }
}
