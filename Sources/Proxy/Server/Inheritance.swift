package import HTTP

/// What the environment says of listening sockets that the process was started with.
///
/// The protocol of sd_listen_fds(3): `LISTEN_FDS` of them, from descriptor 3 on, named by `LISTEN_FDNAMES`, for the
/// process that `LISTEN_PID` names. A Dictum that starts its successor cannot know that number before; it says its own in
/// `DICTUM_SUCCEEDS`, and the descriptor at which it waits to hear that the successor accepts.
package struct Inheritance: Equatable, Sendable {
    package static let variables = [
        "LISTEN_FDS", "LISTEN_PID", "LISTEN_PIDFDID", "LISTEN_FDNAMES", "DICTUM_SUCCEEDS",
    ]
    /// The first descriptor.
    package static let first: Int32 = 3
    private static let countMax: Int32 = 4096

    /// The name of each socket; empty where it has none.
    package private(set) var names: [String] = []
    /// Where the process before waits for word; nil where there is none.
    package private(set) var readiness: Int32?

    /// Reads the variables as the process `own`, which `parent` has started.
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

    /// Takes the sockets; whether they are any shows only now.
    package func sockets() throws(StartError) -> InheritedSockets {
        var members: [InheritedSockets.Member] = []
        for (place, name) in names.enumerated() {
            let descriptor = Self.first + Int32(clamping: place)
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
