/// Elements in the order of their use, each at a fixed place until it is removed.
///
/// Every operation is O(1). The owner keeps the places of its elements.
struct RecencyList<Element: Sendable>: Sendable {
    private struct Slot {
        var element: Element
        /// Neighbours in order of use, as places.
        var older: Int?
        var newer: Int?

        mutating func change<Result>(_ change: (inout Element) -> Result) -> Result { change(&element) }
    }

    /// The place of the least recently used element.
    private(set) var oldest: Int?
    private var newest: Int?
    private var slots = BlockList<Slot?>()
    private var freePlaces: [Int] = []

    /// The bytes per element beyond its own size, including the spare capacity of the table.
    static var overheadBytes: Int { 2 * (MemoryLayout<Slot?>.stride - MemoryLayout<Element>.size) }

    /// The element at a place; nil if there is none.
    subscript(place: Int) -> Element? { slots.indices.contains(place) ? slots[place]?.element : nil }

    /// Returns the place of the element that was used next after the one at this place.
    func newer(than place: Int) -> Int? { slots[place]?.newer }

    /// Adds an element as the most recently used; returns its place.
    mutating func add(_ element: Element) -> Int {
        let place = freePlaces.popLast() ?? slots.count
        if place == slots.count { slots.append(nil) }
        slots[place] = Slot(element: element)
        link(place)
        return place
    }

    @discardableResult
    mutating func remove(_ place: Int) -> Element? {
        guard let slot = slots[place] else { return nil }
        unlink(place)
        slots[place] = nil
        freePlaces.append(place)
        return slot.element
    }

    /// Changes an element in place; the order does not change.
    mutating func update<Result>(_ place: Int, _ change: (inout Element) -> Result) -> Result? {
        slots[place]?.change(change)
    }

    /// Makes an element the most recently used.
    mutating func use(_ place: Int) {
        guard newest != place else { return }
        unlink(place)
        link(place)
    }

    /// Makes an element the least recently used.
    mutating func yield(_ place: Int) {
        guard oldest != place else { return }
        unlink(place)
        slots[place]?.older = nil
        slots[place]?.newer = oldest
        if let oldest { slots[oldest]?.older = place } else { newest = place }
        oldest = place
    }

    private mutating func link(_ place: Int) {
        slots[place]?.older = newest
        slots[place]?.newer = nil
        if let newest { slots[newest]?.newer = place } else { oldest = place }
        newest = place
    }

    private mutating func unlink(_ place: Int) {
        guard let slot = slots[place] else { return }
        if let older = slot.older { slots[older]?.newer = slot.newer } else { oldest = slot.newer }
        if let newer = slot.newer { slots[newer]?.older = slot.older } else { newest = slot.older }
    }
}
