/// The number of bytes that one brotli object has allocated; only the thread that uses the object touches it.
@safe final class BrotliMemory {
    /// The counter that the allocator in the shim changes.
    let count: UnsafeMutablePointer<Int>

    init() {
        // Safe: allocated here, initialised, freed only in `deinit`.
        unsafe count = .allocate(capacity: 1)
        unsafe count.initialize(to: 0)
    }

    deinit { unsafe count.deallocate() }

    var bytes: Int { unsafe count.pointee }
}
