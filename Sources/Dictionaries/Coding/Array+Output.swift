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
        // `append(addingCapacity:)` would write in place, but comes with Swift 6.3 only; zeroes first and then the
        // bytes would cost more than copying what was written, in a debug build a thousand times more.
        var failure: Failure?
        // Safe: `body` says how many bytes it has initialised, and gets no more room than there is.
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
