internal import Primitives

/// The bytes of a response's body that wait for frames: copies, and behind them bytes of the writer while it writes.
@safe struct ResponseQueue {
    /// Copies in pieces as they came: none is copied again when others join it or leave.
    ///
    /// Most bodies are one piece, which needs no list.
    private var first: [UInt8] = []
    private var others: [[UInt8]] = []
    /// The bytes of the first piece that went.
    private var start = 0
    private var copiedCount = 0
    // Borrowed: the caller of `borrow` keeps them until it has called `endBorrowing`.
    private var borrowed: UnsafeBufferPointer<UInt8>?
    private var borrowedStart = 0
    // Pieces that are smaller together make one.
    private static let joinedMax = 16 * 1024
    /// True while the response's source must pause.
    private(set) var isFull = false

    /// The bytes that wait, borrowed ones included.
    var count: Int { copiedCount + borrowedCount }
    var isEmpty: Bool { count == 0 }
    // Safe: only the length is read.
    private var borrowedCount: Int { unsafe (borrowed?.count ?? 0) - borrowedStart }

    /// Appends a copy; returns true if the source must pause from now on.
    mutating func append(_ piece: Span<UInt8>) -> Bool {
        copiedCount += piece.count
        if first.isEmpty || others.isEmpty && first.count + piece.count <= Self.joinedMax {
            first.append(piece)
        } else if let last = others.indices.last, others[last].count + piece.count <= Self.joinedMax {
            others[last].append(piece)
        } else {
            others.append([UInt8](copying: piece))
        }
        guard !isFull, count > ConnectionCore.highWaterBytes else { return false }
        isFull = true
        return true
    }

    /// Returns true if the source had to pause and may resume now.
    mutating func endPause() -> Bool {
        guard isFull, count <= ConnectionCore.lowWaterBytes else { return false }
        isFull = false
        return true
    }

    /// Moves the first bytes into the connection's output.
    ///
    /// - Parameter count: at most `self.count`.
    mutating func move(_ count: Int, into output: inout [UInt8]) {
        var rest = count
        while rest > 0, !first.isEmpty {
            let moved = min(rest, first.count - start)
            output.append(first.span.extracting(start..<start + moved))
            rest -= moved
            start += moved
            copiedCount -= moved
            guard start == first.count else { break }
            first = others.isEmpty ? [] : others.removeFirst()
            start = 0
        }
        moveBorrowed(rest, into: &output)
    }

    /// Adds bytes without copying them, until `endBorrowing`.
    mutating func borrow(_ piece: UnsafeBufferPointer<UInt8>) {
        // Safe: the caller keeps the bytes until `endBorrowing`.
        unsafe borrowed = piece
        borrowedStart = 0
    }

    /// Forgets the borrowed bytes; returns how many of them were not moved.
    mutating func endBorrowing() -> Int {
        let rest = borrowedCount
        // Safe: nothing refers to the bytes from here on.
        unsafe borrowed = nil
        borrowedStart = 0
        return rest
    }

    private mutating func moveBorrowed(_ count: Int, into output: inout [UInt8]) {
        guard count > 0, count <= borrowedCount, let bytes = unsafe borrowed else { return }
        // Safe: the owner of `borrow` keeps the bytes, and the range lies within them.
        unsafe output.append(UnsafeBufferPointer(rebasing: bytes[borrowedStart..<borrowedStart + count]).span)
        borrowedStart += count
    }
}
