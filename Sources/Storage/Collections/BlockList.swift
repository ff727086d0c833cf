/// A list that grows and shrinks at its end, in blocks, so that an append never moves all elements as an array
/// does.
///
/// Moving 100,000 elements takes milliseconds, and would block an event loop that holds a lock.
struct BlockList<Element: Sendable>: Sendable {
    private var blocks: [[Element]] = []
    private(set) var count = 0

    private static var blockCount: Int { 256 }

    var indices: Range<Int> { 0..<count }

    subscript(place: Int) -> Element {
        // Access in place: copying an element would retain every object in it.
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
        // Keep one empty block, so that a length that varies around the end of a block does not allocate each time.
        if blocks.count > count / Self.blockCount + 2 { blocks.removeLast() }
        return last
    }
}
