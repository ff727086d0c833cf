/// How much an operator's command may remove at once, so that database and log stay within their limit; pure.
///
/// What is deleted is overwritten with zeroes, and those pages stand in the log before they are in the file.
struct RemovalRoom {
    /// The first of some versions that go in one transaction.
    struct Batch: Equatable {
        let count: Int
        /// Whether there is room to overwrite the bodies; else they are overwritten, or cut off, as the file shrinks.
        let isOverwriting: Bool
        /// Whether it is the limit that ends it.
        let isShort: Bool
    }

    /// What the log gets at a time, unless a single body takes more.
    private static let stepBytes = 4 << 20
    private static let countMax = 256

    /// What database and log may take; nil where it is not known.
    let bytesMax: Int?
    /// What they take now.
    let size: StoreDatabase.Size

    /// What they may grow by; nil where nothing is known, or where they are beyond the limit and must shrink somehow.
    private var freeBytes: Int? {
        guard let bytesMax, size.total <= bytesMax else { return nil }
        return bytesMax - size.total
    }

    /// What goes next of versions, of which there is one at least; nil if the log must be emptied before.
    func batch(of versions: some Sequence<Version>) -> Batch? {
        var cost = WriteCost(pageBytes: size.page)
        var count = 0
        for version in versions.prefix(Self.countMax) {
            var next = cost
            _ = next.add(.erasure(version))
            if let freeBytes, next.logBytes + max(0, next.fileBytes - size.free) > freeBytes {
                guard count == 0 else { return Batch(count: count, isOverwriting: true, isShort: true) }
                // With an empty log there is no other way on; it takes a few pages.
                return size.log > 0 ? nil : Batch(count: 1, isOverwriting: false, isShort: true)
            }
            if count > 0, next.logBytes > Self.stepBytes { break }
            cost = next
            count += 1
        }
        return Batch(count: count, isOverwriting: true, isShort: false)
    }

    /// How many free pages of the file to give back next: a page moves, and what points to it changes.
    var vacuumPages: Int {
        let pages = min(freeBytes ?? Self.stepBytes, Self.stepBytes) / (size.page + 32)
        return max((pages - 16) / 4, 1)
    }
}
