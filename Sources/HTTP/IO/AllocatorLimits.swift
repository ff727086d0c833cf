internal import CLinux

/// The limits within which the C library's allocator keeps freed memory.
package enum AllocatorLimits {
    /// Keeps the memory of ordinary bodies in the process from one request to the next.
    ///
    /// By default the allocator returns the memory of a body to the kernel, and the next body gets it back page by page,
    /// each zeroed: a tenth of the processor time of a delta for a body of 300 KB.
    package static func set() {
        // Blocks above 1 MiB still go back at once. Each of the few heaps keeps at most 4 MiB free at its end.
        CLinux_limit_allocator(1 << 20, 4 << 20)
    }
}
