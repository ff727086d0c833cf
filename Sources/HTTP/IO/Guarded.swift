internal import Glibc

/// A value behind a lock that is held only briefly.
///
/// A pthread mutex instead of `Synchronization.Mutex`: the thread sanitizer understands the first and reports a
/// race for every use of the second (Linux, Swift 6.3). `@unchecked Sendable` proof: `value` is touched only
/// inside `withLock`, which holds `mutex`; the mutex has a heap address of its own that does not change for the
/// life of the object.
@safe
final class Guarded<Value: Sendable>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var value: Value

    init(_ value: Value) {
        self.value = value
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        let code = unsafe pthread_mutex_init(mutex, nil)
        precondition(code == 0, "pthread_mutex_init fails only for want of memory")
    }

    deinit {
        // Safe: the last reference is gone, so no thread holds the lock.
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// Runs `body` with exclusive access to the value.
    ///
    /// `body` must not call foreign code or take the lock again.
    func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // Safe: the mutex was initialised in `init` and lives until `deinit`.
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}
