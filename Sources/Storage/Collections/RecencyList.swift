/// Elements in the order of their use, each at a fixed place until it is removed.
///
/// Every operation is O(1). The owner keeps the places of its elements.
struct RecencyList<Element: Sendable>: Sendable {
    private struct Slot: LinkedList.Element {
        var element: Element?
        var links = LinkedList.Links()

        subscript(_: Int) -> LinkedList.Links {
            get { links }
            set { links = newValue }
        }
    }

    private var order = LinkedList()
    private var slots = BlockList<Slot>()
    private var freePlaces: [Int] = []

    /// The place of the least recently used element.
    var oldest: Int? { order.oldest >= 0 ? Int(order.oldest) : nil }

    /// The bytes per element beyond its own size, including the spare capacity of the table.
    static var overheadBytes: Int { 2 * (MemoryLayout<Slot>.stride - MemoryLayout<Element>.size) }

    subscript(place: Int) -> Element? { slots.indices.contains(place) ? slots[place].element : nil }

    /// Returns the place of the element that was used next after the one at this place.
    func newer(than place: Int) -> Int? {
        let newer = slots[place].links.newer
        return newer >= 0 ? Int(newer) : nil
    }

    /// Adds an element as the most recently used; returns its place.
    mutating func add(_ element: Element) -> Int {
        let place = freePlaces.popLast() ?? slots.count
        if place == slots.count { slots.append(Slot()) }
        slots[place].element = element
        order.append(Int32(place), of: &slots)
        return place
    }

    @discardableResult
    mutating func remove(_ place: Int) -> Element? {
        guard let element = slots[place].element else { return nil }
        order.remove(Int32(place), of: &slots)
        slots[place] = Slot()
        freePlaces.append(place)
        return element
    }

    /// Changes an element in place; the order does not change.
    mutating func update<Result>(_ place: Int, _ change: (inout Element) -> Result) -> Result? {
        // Taken out, so that it is not copied.
        guard var element = slots[place].element.take() else { return nil }
        defer { slots[place].element = element }
        return change(&element)
    }

    /// Makes an element the most recently used.
    mutating func use(_ place: Int) {
        guard order.newest != place else { return }
        order.remove(Int32(place), of: &slots)
        order.append(Int32(place), of: &slots)
    }

    /// Makes an element the least recently used.
    mutating func yield(_ place: Int) {
        order.remove(Int32(place), of: &slots)
        order.prepend(Int32(place), of: &slots)
    }
}
