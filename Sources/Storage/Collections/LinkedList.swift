/// The ends of a doubly linked list, whose elements know their neighbours and lie in a `BlockList`.
///
/// Places are those of the elements there; -1 stands for none. An element may be in several lists, if each has another
/// number. Every operation is O(1).
struct LinkedList: Sendable {
    struct Links: Sendable {
        var older: Int32 = -1
        var newer: Int32 = -1
    }

    protocol Element: Sendable {
        subscript(list: Int) -> Links { get set }
    }

    private(set) var oldest: Int32 = -1
    private(set) var newest: Int32 = -1

    // Inlined, so that the number of the list is known: otherwise a step takes a third more instructions.

    /// Adds an element as the newest.
    @inline(__always)
    mutating func append<E: Element>(_ place: Int32, of elements: inout BlockList<E>, list: Int = 0) {
        elements[Int(place)][list] = Links(older: newest)
        if newest >= 0 { elements[Int(newest)][list].newer = place } else { oldest = place }
        newest = place
    }

    /// Adds an element as the oldest.
    @inline(__always)
    mutating func prepend<E: Element>(_ place: Int32, of elements: inout BlockList<E>, list: Int = 0) {
        elements[Int(place)][list] = Links(newer: oldest)
        if oldest >= 0 { elements[Int(oldest)][list].older = place } else { newest = place }
        oldest = place
    }

    /// Takes an element out; its own links stay as they were.
    @inline(__always)
    mutating func remove<E: Element>(_ place: Int32, of elements: inout BlockList<E>, list: Int = 0) {
        let links = elements[Int(place)][list]
        if links.older >= 0 {
            elements[Int(links.older)][list].newer = links.newer
        } else {
            oldest = links.newer
        }
        if links.newer >= 0 {
            elements[Int(links.newer)][list].older = links.older
        } else {
            newest = links.older
        }
    }
}
