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

/// An errno with the system's text.
package struct SystemError: Error, Equatable, Sendable {
    package let code: Int32

    package init(code: Int32) {
        self.code = code
    }

    /// The error of the last failed call on this thread.
    static var last: SystemError { SystemError(code: errno) }

    /// True if this machine lacks a resource, so that other peers cannot be reached either.
    package var isOurs: Bool { [EMFILE, ENFILE, ENOBUFS, ENOMEM, EADDRNOTAVAIL].contains(code) }

    /// The system's text, such as `Address already in use`.
    package var text: String {
        // Safe: strerror's text is static or thread local here, and copied at once.
        guard let text = unsafe strerror(code) else { return "error \(code)" }
        return unsafe String(cString: text)
    }
}
