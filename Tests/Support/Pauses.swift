internal import Glibc

/// Waits longer than the proxy may hold an answer back (25 ms), as a slow upstream does.
///
/// No test passes or fails by how long this takes: it only makes the case that is to be tested.
package func pauseBeyondTheHold() {
    usleep(60_000)
}
