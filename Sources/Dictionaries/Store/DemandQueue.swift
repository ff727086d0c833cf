internal import HeapModule

/// Things by when they were last wanted, the least wanted first; a step costs O(log n).
///
/// What is wanted again is not moved at once, which would cost a lock for each request: its entry is put right when
/// it comes to the front. That keeps the order exact, since nothing is ever wanted earlier than before. Whoever holds
/// the queue inserts a thing anew when it comes to belong here, and says at the front whether it still does.
struct DemandQueue<Element: AnyObject & Sendable>: Sendable {
    private struct Entry: Comparable, Sendable {
        let lastWanted: Int
        /// Among those that were wanted in the same second the older goes first.
        let rank: Int64
        let element: Element

        static func < (one: Entry, other: Entry) -> Bool {
            (one.lastWanted, one.rank) < (other.lastWanted, other.rank)
        }

        static func == (one: Entry, other: Entry) -> Bool {
            (one.lastWanted, one.rank) == (other.lastWanted, other.rank)
        }
    }

    private var entries = Heap<Entry>()

    /// How many entries there are, those included that no longer count.
    var count: Int { entries.count }

    /// Puts a thing into its place.
    mutating func insert(_ element: Element, lastWanted: Int, rank: Int64) {
        entries.insert(Entry(lastWanted: lastWanted, rank: rank, element: element))
    }

    /// Takes the least wanted; `lastWanted` says when that was by now, or nil for what no longer belongs here.
    mutating func popFirst(lastWanted: (Element) -> Int?) -> Element? {
        while let first = entries.min {
            guard let now = lastWanted(first.element) else {
                entries.removeMin()
                continue
            }
            guard now > first.lastWanted else { return entries.popMin()?.element }
            entries.replaceMin(with: Entry(lastWanted: now, rank: first.rank, element: first.element))
        }
        return nil
    }

    /// Forgets the entries that no longer count, once they are most of all; O(1) on average.
    mutating func compact(liveCount: Int, lastWanted: (Element) -> Int?) {
        guard entries.count > 2 * liveCount + 64 else { return }
        var seen: Set<ObjectIdentifier> = []
        entries = Heap(
            entries.unordered.filter {
                lastWanted($0.element) != nil && seen.insert(ObjectIdentifier($0.element)).inserted
            })
    }
}
