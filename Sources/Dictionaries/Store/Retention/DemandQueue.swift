/// Things by when they were last wanted, the least wanted first; a step costs O(log n), and hardly more than O(1) for
/// what was wanted lately.
///
/// What is wanted again is not moved at once, which would cost a lock for each request: its entry is put right when
/// it comes to the front. That keeps the order exact, since nothing is ever wanted earlier than before.
///
/// A binary heap of our own, for the sake of `remove`: with the library's, which cannot do that, what had gone stayed
/// until most entries were such, and then an event loop that held the store's lock read 200,000 of them in 0.13 s.
struct DemandQueue<Element: DemandQueueElement>: Sendable {
    private struct Entry: Sendable {
        var lastWanted: Int
        /// Among those that were wanted in the same second the older goes first.
        let rank: Int64
        let element: Element

        func precedes(_ other: Entry) -> Bool {
            (lastWanted, rank) < (other.lastWanted, other.rank)
        }
    }

    /// No entry precedes its parent, which is at `(place - 1) / 2`.
    private var entries = BlockList<Entry>()

    var count: Int { entries.count }

    /// Puts a thing into its place; one that is here already moves.
    mutating func insert(_ element: Element, lastWanted: Int, rank: Int64) {
        remove(element)
        entries.append(Entry(lastWanted: lastWanted, rank: rank, element: element))
        rise(from: entries.count - 1)
    }

    /// Takes a thing out, wherever it stands; false if it is not here.
    @discardableResult
    mutating func remove(_ element: Element) -> Bool {
        let place = element.queuePlace
        guard entries.indices.contains(place), entries[place].element === element,
            let last = entries.popLast()
        else { return false }
        guard place < entries.count else { return true }
        entries[place] = last
        sink(from: rise(from: place))
        return true
    }

    /// Takes the least wanted; `lastWanted` says when that was by now.
    mutating func popFirst(lastWanted: (Element) -> Int) -> Element? {
        while !entries.indices.isEmpty {
            let first = entries[0]
            let now = lastWanted(first.element)
            guard now > first.lastWanted else {
                remove(first.element)
                return first.element
            }
            entries[0].lastWanted = now
            sink(from: 0)
        }
        return nil
    }

    // MARK: The heap

    /// Moves an entry towards the front; returns where it is then.
    @discardableResult
    private mutating func rise(from start: Int) -> Int {
        let entry = entries[start]
        var place = start
        while place > 0, case let parent = (place - 1) / 2, entry.precedes(entries[parent]) {
            put(entries[parent], at: place)
            place = parent
        }
        put(entry, at: place)
        return place
    }

    /// Moves an entry away from the front.
    private mutating func sink(from start: Int) {
        let entry = entries[start]
        var place = start
        while let child = firstChild(of: place), entries[child].precedes(entry) {
            put(entries[child], at: place)
            place = child
        }
        put(entry, at: place)
    }

    private func firstChild(of place: Int) -> Int? {
        let (left, right) = (2 * place + 1, 2 * place + 2)
        guard right < count else { return left < count ? left : nil }
        return entries[right].precedes(entries[left]) ? right : left
    }

    private mutating func put(_ entry: Entry, at place: Int) {
        entries[place] = entry
        entry.element.queuePlace = place
    }
}
