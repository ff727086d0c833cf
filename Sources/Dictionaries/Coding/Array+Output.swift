extension [UInt8] {
    /// Appends the bytes of a span.
    mutating func append(copying span: Span<UInt8>) {
        // Safe: the buffer is used only while the span lives.
        unsafe span.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }

    /// Appends up to `capacity` bytes that a C library writes; `body` returns their count.
    @unsafe mutating func append<Failure: Error>(
        upTo capacity: Int, writtenBy body: (UnsafeMutableBufferPointer<UInt8>) throws(Failure) -> Int
    ) throws(Failure) {
        // `append(addingCapacity:)` would write in place, but exists only from Swift 6.3 on. Appending zeroes and
        // overwriting them costs more than copying the output: in a debug build a thousand times more.
        var failure: Failure?
        // Safe: `body` gets no more room than there is, and returns the number of bytes that it initialised.
        let piece = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            do throws(Failure) {
                count = try unsafe body(buffer)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        append(contentsOf: piece)
    }
}
