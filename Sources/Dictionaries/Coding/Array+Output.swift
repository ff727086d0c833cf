extension [UInt8] {
    /// Appends the bytes of a span.
    mutating func append(copying span: Span<UInt8>) {
        // Safe: the buffer is used only while the span lives.
        unsafe span.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }

    /// Lets a C library write up to `capacity` bytes at the end; `body` returns how many it wrote.
    @unsafe mutating func append<Failure: Error>(
        upTo capacity: Int, writtenBy body: (UnsafeMutableBufferPointer<UInt8>) throws(Failure) -> Int
    ) throws(Failure) {
        // `append(addingCapacity:)` would not clear the bytes first, but comes with Swift 6.3 only.
        let start = count
        append(contentsOf: repeatElement(0, count: capacity))
        var written = 0
        defer { removeLast(capacity - written) }
        // Safe: the part behind `start` is this array's own, initialised, and used within the call only.
        written = try unsafe withUnsafeMutableBufferPointer { (buffer) throws(Failure) in
            try unsafe body(UnsafeMutableBufferPointer(rebasing: buffer[start...]))
        }
    }
}
