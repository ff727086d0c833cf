internal import Foundation
internal import Glibc
internal import HTTP
internal import Proxy

/// The sockets and the readiness descriptor that this process inherited, removed from its environment.
struct InheritanceInUse {
    let sockets: InheritedSockets
    private let readiness: Int32?

    /// Reads and unsets the variables; call it once, before any thread is started.
    init() throws(StartError) {
        let inheritance = try Inheritance(
            ProcessInfo.processInfo.environment, own: getpid(), parent: getppid())
        // Safe: the texts are terminated and used during the calls only; no other thread runs yet.
        for name in Inheritance.variables { unsafe unsetenv(name) }
        readiness = inheritance.readiness
        if let readiness { _ = fcntl(readiness, F_SETFD, FD_CLOEXEC) }
        sockets = try inheritance.sockets()
    }

    /// Reports that connections are accepted: to the predecessor, which informs the service manager, or directly
    /// to the manager.
    func tellReady() {
        guard let readiness else { return ServiceManager.notify(.ready) }
        var one: UInt8 = 1
        // Safe: the byte is a local variable.
        _ = unsafe write(readiness, &one, 1)
        close(readiness)
    }
}
