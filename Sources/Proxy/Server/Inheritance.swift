package import HTTP

/// The listening sockets that the environment passes to the process.
///
/// The protocol of sd_listen_fds(3): `LISTEN_FDS` sockets from descriptor 3 on, with the names `LISTEN_FDNAMES`, for
/// the process `LISTEN_PID`. A Dictum that starts its successor does not know that number in advance. It passes its
/// own process number in `DICTUM_SUCCEEDS`, with the descriptor on which it waits for the successor's readiness.
package struct Inheritance: Equatable, Sendable {
    package static let variables = [
        "LISTEN_FDS", "LISTEN_PID", "LISTEN_PIDFDID", "LISTEN_FDNAMES", "DICTUM_SUCCEEDS",
    ]
    package static let first: Int32 = 3
    private static let countMax: Int32 = 4096

    /// The names of the sockets; empty for unnamed ones.
    package private(set) var names: [String] = []
    /// The descriptor on which the predecessor waits, if any.
    package private(set) var readiness: Int32?

    /// Reads the variables of process `own`, the child of `parent`.
    package init(_ environment: [String: String], own: Int32, parent: Int32) throws(StartError) {
        let predecessor = Predecessor(environment["DICTUM_SUCCEEDS"])
        let isFromPredecessor = predecessor?.process == parent
        guard let text = environment["LISTEN_FDS"],
            isFromPredecessor || environment["LISTEN_PID"].flatMap(Int32.init) == own
        else { return }
        guard let count = Int32(text), 0...Self.countMax ~= count else {
            throw .wrongInheritance(
                "LISTEN_FDS is not a number of sockets: unset it, or start by a socket unit")
        }
        let given = (environment["LISTEN_FDNAMES"] ?? "").split(
            separator: ":", omittingEmptySubsequences: false)
        names = (0..<Int(count)).map { $0 < given.count ? String(given[$0]) : "" }
        if isFromPredecessor { readiness = predecessor?.readiness }
    }

    /// Takes the sockets; throws if a descriptor is not a listening socket.
    package func sockets() throws(StartError) -> InheritedSockets {
        var members: [InheritedSockets.Member] = []
        for (index, name) in names.enumerated() {
            let descriptor = Self.first + Int32(clamping: index)
            guard let socket = ListeningSocket.inherited(descriptor) else {
                throw .wrongInheritance(
                    "descriptor \(descriptor)\(name.isEmpty ? "" : " (\(name))") is no listening stream socket: in the "
                        + "socket unit use ListenStream= and leave Accept= out")
            }
            members.append(.init(name: name, socket: socket))
        }
        return InheritedSockets(members, mayBeLeftOver: readiness != nil)
    }

    /// `PID:DESCRIPTOR`.
    private struct Predecessor {
        let process: Int32
        let readiness: Int32

        init?(_ text: String?) {
            let parts = (text ?? "").split(separator: ":").compactMap { Int32($0) }
            guard parts.count == 2, parts[1] >= Inheritance.first else { return nil }
            (process, readiness) = (parts[0], parts[1])
        }
    }
}
