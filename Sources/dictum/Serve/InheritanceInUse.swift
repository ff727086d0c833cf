internal import Foundation
internal import Glibc
internal import HTTP
internal import Proxy

/// What this process was started with, taken from its environment so that nobody takes it again.
struct InheritanceInUse {
    let sockets: InheritedSockets
    private let readiness: Int32?

    /// Once, before any thread is started: reads the variables, and unsets them.
    init() throws(StartError) {
        let inheritance = try Inheritance(
            ProcessInfo.processInfo.environment, own: getpid(), parent: getppid())
        // Safe: the texts are terminated and used during the calls only; no other thread runs yet.
        for name in Inheritance.variables { unsafe unsetenv(name) }
        readiness = inheritance.readiness
        if let readiness { _ = fcntl(readiness, F_SETFD, FD_CLOEXEC) }
        sockets = try inheritance.sockets()
    }

    /// Tells whoever waits for it that connections are accepted: the process before this one, which tells the service
    /// manager by whom it is succeeded, or that one itself.
    func tellReady() {
        guard let readiness else { return ServiceManager.notify(.ready) }
        var one: UInt8 = 1
        // Safe: one byte of a local variable.
        _ = unsafe write(readiness, &one, 1)
        close(readiness)
    }
}
