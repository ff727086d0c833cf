internal import Glibc

/// Waits longer than the proxy may hold an answer back (25 ms), as a slow upstream does.
///
/// No test passes or fails by how long this takes: it only makes the case that is to be tested. It is twenty times as
/// long, since the proxy may wait for a processor, too.
package func pauseBeyondTheHold() {
    usleep(500_000)
}
