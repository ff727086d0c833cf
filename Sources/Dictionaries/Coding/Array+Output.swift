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
        try append(addingCapacity: capacity) { (span) throws(Failure) in
            try unsafe span.withUnsafeMutableBufferPointer { (buffer, count) throws(Failure) in
                count = try unsafe body(buffer)
            }
        }
    }
}
