internal import Dictionaries

/// The versions of other nodes that are in memory only; a pure value.
///
/// Most are wanted by one request: its client gets a version of this node in their place. So a row is made for the second
/// one, and versions that no second request wants are evicted, the oldest first.
struct BorrowedVersions: Sendable {
    private struct Borrowed: Sendable {
        let id: Int64
        var isUsed = false
    }

    private var versions: RecencyMap<Int64, Borrowed>

    init(bytesMax: Int) {
        versions = RecencyMap(bytesMax: bytesMax)
    }

    var count: Int { versions.count }

    func contains(_ id: Int64) -> Bool { versions.contains(id) }

    /// Adds a version with a body of so many bytes; returns those that must go for it, or itself if it is too large.
    mutating func insert(_ id: Int64, bytes: Int) -> [Int64] {
        versions.remove(id)
        return versions.insert(Borrowed(id: id), bytes: bytes, for: id).map(\.id)
    }

    /// Records that a request wants a version; returns true for the second one.
    mutating func want(_ id: Int64) -> Bool {
        guard versions.count > 0 else { return false }
        return versions.update(id) { borrowed in
            defer { borrowed.isUsed = true }
            return borrowed.isUsed
        } ?? false
    }

    /// Removes a version; returns false if it was not there.
    @discardableResult
    mutating func remove(_ id: Int64) -> Bool { versions.remove(id) != nil }
}
