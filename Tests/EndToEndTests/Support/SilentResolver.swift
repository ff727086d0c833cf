internal import Foundation
internal import Glibc
internal import TestSupport

/// A name server that never answers, for one process in namespaces of its own.
enum SilentResolver {
    /// Root makes the namespaces itself; others need to be root of a user namespace first.
    private static let namespaces =
        ["unshare"] + (geteuid() == 0 ? [] : ["-U", "-r"]) + ["-n", "-m", "/bin/bash", "-c", script]

    /// Python takes the port of name servers, and becomes the program, which keeps the socket open.
    private static let script = """
        ip link set lo up && echo 'nameserver 127.0.0.1' > resolver && echo 'hosts: dns' > services || exit 2
        mount --bind resolver /etc/resolv.conf && mount --bind services /etc/nsswitch.conf || exit 2
        exec /usr/bin/python3 -c '
        import os, socket, sys
        server = socket.socket(type=socket.SOCK_DGRAM)
        server.bind(("127.0.0.1", 53))
        server.set_inheritable(True)
        os.execvp(sys.argv[1], sys.argv[1:])
        ' "$0" "$@"
        """

    static let isAllowed = (try? run([], of: "true").status) == 0

    /// Runs a program to its end where no host has an address.
    static func run(
        _ arguments: [String], of program: String = RunningProcess.dictum
    ) throws -> ProcessResult {
        let folder = try TemporaryFolder()
        return try RunningProcess.run(namespaces + [program] + arguments, of: "/usr/bin/env", in: folder.path)
    }
}
