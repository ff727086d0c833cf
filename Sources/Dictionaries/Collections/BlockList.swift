/// A list that grows and shrinks at its end, in blocks, so that an append never moves all elements as an array
/// does.
///
/// Moving 100,000 elements takes milliseconds, in which an event loop that holds a lock would stand still. A value.
struct BlockList<Element: Sendable>: Sendable {
    private var blocks: [[Element]] = []
    private(set) var count = 0

    private static var blockCount: Int { 256 }

    init() {}

    var indices: Range<Int> { 0..<count }

    subscript(place: Int) -> Element {
        // In place: a copy of an element would retain all that it refers to.
        _read { yield blocks[place / Self.blockCount][place % Self.blockCount] }
        _modify { yield &blocks[place / Self.blockCount][place % Self.blockCount] }
    }

    mutating func append(_ element: Element) {
        if count == blocks.count * Self.blockCount { blocks.append([]) }
        blocks[count / Self.blockCount].append(element)
        count += 1
    }

    /// Removes and returns the last element; nil if the list is empty.
    mutating func popLast() -> Element? {
        guard count > 0 else { return nil }
        count -= 1
        let last = blocks[count / Self.blockCount].popLast()
        // One empty block stays, for a list whose length varies around the edge of a block.
        if blocks.count > count / Self.blockCount + 2 { blocks.removeLast() }
        return last
    }
}
