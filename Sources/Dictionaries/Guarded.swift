internal import Glibc

/// A value behind a lock.
///
/// It is a pthread mutex and not `Synchronization.Mutex`: the thread sanitizer understands the first and reports
/// every use of the second as a race (Linux, Swift 6.3).
// @unchecked proof: `value` is touched only inside `withLock`, which holds `mutex`.
@safe package final class Guarded<Value: ~Copyable & Sendable>: @unchecked Sendable {
    // On the heap by itself, because a pthread mutex must never move.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var value: Value

    /// Puts `value` behind a new lock.
    package init(_ value: consuming Value) {
        self.value = value
        // Safe: allocated here, initialised before use, freed only in `deinit`.
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        let code = unsafe pthread_mutex_init(mutex, nil)
        precondition(code == 0, "pthread_mutex_init failed")
    }

    deinit {
        // Safe: no thread can hold the lock of an object without references.
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// Runs `body` with the value while no other thread can; `body` must be short and must not lock again.
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // Safe: the mutex lives as long as self.
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}
