internal import Glibc

/// An open file descriptor with a single owner, which closes it at its end.
package struct Descriptor: ~Copyable, Sendable {
    /// The number, valid while the owner lives.
    package let raw: Int32

    /// Takes ownership of `raw`, which must be open.
    package init(owning raw: Int32) {
        self.raw = raw
    }

    deinit {
        // EINTR needs no retry: on Linux the number is free whatever close returns.
        close(raw)
    }
}
