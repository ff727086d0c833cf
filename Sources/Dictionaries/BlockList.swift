/// A list that grows and shrinks at its end, in blocks: one more element never moves all the others, as it does in an
/// array.
///
/// Of 100,000 elements those take milliseconds, in which an event loop that holds a lock stands still. A value.
struct BlockList<Element: Sendable>: Sendable {
    private var blocks: [[Element]] = []
    private(set) var count = 0

    private static var blockCount: Int { 256 }

    init() {}

    var indices: Range<Int> { 0..<count }

    subscript(place: Int) -> Element {
        get { blocks[place / Self.blockCount][place % Self.blockCount] }
        _modify { yield &blocks[place / Self.blockCount][place % Self.blockCount] }
    }

    /// Adds an element behind the others.
    mutating func append(_ element: Element) {
        if count == blocks.count * Self.blockCount { blocks.append([]) }
        blocks[count / Self.blockCount].append(element)
        count += 1
    }

    /// Takes the last element off; nil where there is none.
    mutating func popLast() -> Element? {
        guard count > 0 else { return nil }
        count -= 1
        let last = blocks[count / Self.blockCount].popLast()
        // One empty block stays, for a list that goes up and down at its edge.
        if blocks.count > count / Self.blockCount + 2 { blocks.removeLast() }
        return last
    }
}
