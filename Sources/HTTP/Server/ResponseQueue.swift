internal import Primitives

/// The bytes of a response's body that wait for frames: copies, and behind them bytes of the writer while it writes.
@safe struct ResponseQueue {
    private var bytes: [UInt8] = []
    private var start = 0
    // Borrowed: the caller of `borrow` keeps them until it has called `endBorrowing`.
    private var borrowed: UnsafeBufferPointer<UInt8>?
    private var borrowedStart = 0
    /// True while the response's source must pause.
    private(set) var isFull = false

    /// The bytes that wait, borrowed ones included.
    var count: Int { bytes.count - start + borrowedCount }
    var isEmpty: Bool { count == 0 }
    // Safe: only the length is read.
    private var borrowedCount: Int { unsafe (borrowed?.count ?? 0) - borrowedStart }

    /// Appends a copy; returns true if the source must pause from now on.
    mutating func append(_ piece: Span<UInt8>) -> Bool {
        bytes.append(piece)
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
        let copied = min(count, bytes.count - start)
        output.append(bytes.span.extracting(start..<start + copied))
        moveBorrowed(count - copied, into: &output)
        start += copied
        if start == bytes.count {
            bytes.removeAll(keepingCapacity: bytes.capacity <= 4096)
            start = 0
        } else if start > 16 * 1024, start > bytes.count / 2 {
            bytes.removeFirst(start)
            start = 0
        }
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
