#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A value behind a lock that is held only briefly.
///
/// A pthread mutex instead of `Synchronization.Mutex`: the thread sanitizer understands the first and reports a
/// race for every use of the second (Linux, Swift 6.3).
// @unchecked proof: `value` is touched only inside `withLock`, which holds `mutex`; the mutex has a heap address of
// its own that does not change for the life of the object. So no two accesses overlap, and none is checked at run time.
@safe @usableFromInline package final class Guarded<Value: ~Copyable & Sendable>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    @exclusivity(unchecked)
    @usableFromInline var value: Value

    package init(_ value: consuming Value) {
        unsafe self.value = value
        // Safe: allocated here, initialised before use, freed only in `deinit`.
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        let code = unsafe pthread_mutex_init(mutex, nil)
        precondition(code == 0, "pthread_mutex_init fails only without memory")
    }

    deinit {
        // Safe: the last reference is gone, so no thread holds the lock.
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// Runs `body` with exclusive access to the value.
    ///
    /// `body` must be short, and must not call foreign code or take the lock again.
    @inlinable
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lock()
        defer { unlock() }
        return try unsafe body(&value)
    }

    // Safe, both: the mutex was initialised in `init` and lives until `deinit`.
    @usableFromInline func lock() { unsafe pthread_mutex_lock(mutex) }
    @usableFromInline func unlock() { unsafe pthread_mutex_unlock(mutex) }
}

extension Guarded: CustomReflectable where Value: ~Copyable {
    /// Nothing: who looks by a mirror, such as an expectation that failed, does not hold the lock.
    @usableFromInline package var customMirror: Mirror {
        Mirror(self, children: EmptyCollection<Mirror.Child>())
    }
}
