extension RandomAccessCollection where Index == Int {
    /// Returns the elements in pieces of so many, in their order; the last piece may have fewer.
    package func pieces(of count: Int) -> [SubSequence] {
        stride(from: startIndex, to: endIndex, by: count).map { self[$0..<Swift.min($0 + count, endIndex)] }
    }
}
