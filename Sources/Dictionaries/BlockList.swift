/// A list that only grows, in blocks: one more element never moves all the others, as it does in an array.
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
        blocks[blocks.count - 1].append(element)
        count += 1
    }
}
