internal import Glibc

/// Keeps a descriptor from the children of this process, and returns it.
///
/// What they inherit by chance counts against their limits, and keeps connections open that the test has closed.
package func closedOnExec(_ descriptor: Int32) -> Int32 {
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    return descriptor
}
