/// The count of the memory that one brotli object has allocated; used by the thread that uses the object.
@safe final class BrotliMemory {
    /// What the allocator in the shim adds to and takes from.
    let count: UnsafeMutablePointer<Int>

    init() {
        // Safe: allocated here, initialised, freed only in `deinit`.
        unsafe count = .allocate(capacity: 1)
        unsafe count.initialize(to: 0)
    }

    deinit { unsafe count.deallocate() }

    var bytes: Int { unsafe count.pointee }
}
