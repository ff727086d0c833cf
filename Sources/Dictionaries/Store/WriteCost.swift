/// The pages that one transaction writes, estimated from above.
///
/// The log gets each page that changes once, as the cache does not spill; the file grows by those that are new.
struct WriteCost: Sendable {
    /// One change of a batch.
    enum Change {
        case insertion(Version), renewal(Version), removal, erasure(Version), touch, establishment
    }

    let pageBytes: Int
    /// The header of the database, the list of free pages and the map of pages.
    private(set) var pages = 8
    private(set) var newPages = 8
    /// Each is a row of the feed, too.
    private var changes = 0

    /// Nothing to write yet.
    init(pageBytes: Int) {
        self.pageBytes = pageBytes
    }

    /// Adds a change, unless that makes more than `pagesMax`; whether it did.
    mutating func add(_ change: Change, within pagesMax: Int = .max) -> Bool {
        let (changed, new) = cost(of: change)
        guard pages + changed <= pagesMax else { return false }
        pages += changed
        newPages += new
        changes += 1
        return true
    }

    /// The bytes that the log grows by, its own headers and the index over it included.
    var logBytes: Int { (pages + changes / 128) * (pageBytes + 32) + 4096 }
    /// The bytes that the file grows by, unless it has free pages.
    var fileBytes: Int { (newPages + changes / 128) * pageBytes }

    /// Six trees have a part in each version: three tables and the indexes over them.
    private func cost(of change: Change) -> (changed: Int, new: Int) {
        switch change {
        case .insertion(let version):
            let (body, names) = (bodyPages(version), names(version))
            return (body + names + 12, body + names + 1)
        case .renewal(let version): return (2 + names(version), names(version))
        case .removal: return (10, 0)
        // Each page that becomes free is overwritten, and those of a head that is not read here.
        case .erasure(let version):
            return (10 + bodyPages(version) + names(version) + StoredHead.bytesMax / (pageBytes - 64) + 1, 0)
        case .touch: return (1, 0)
        case .establishment: return (1, 0)
        }
    }

    /// The pages of a body, and of the map that they stand in.
    private func bodyPages(_ version: Version) -> Int {
        let body = 1 + version.bytes / (pageBytes - 64)
        return body + 1 + body / 512
    }

    private func names(_ version: Version) -> Int {
        let bytes = StoredSize.names(chain: version.chain, url: version.url, variant: version.variant)
        return (4 * bytes + (version.etag?.utf8.count ?? 0) + (version.contentType?.utf8.count ?? 0))
            / (pageBytes - 64)
    }
}

extension PendingWrites.Batch {
    /// What it takes to write it.
    func cost(pageBytes: Int) -> WriteCost {
        var cost = WriteCost(pageBytes: pageBytes)
        for _ in established { _ = cost.add(.establishment) }
        for _ in removals { _ = cost.add(.removal) }
        for insertion in insertions { _ = cost.add(.insertion(insertion.version)) }
        for version in renewals { _ = cost.add(.renewal(version)) }
        for _ in 0..<(touches.count + pins.count) { _ = cost.add(.touch) }
        return cost
    }
}
