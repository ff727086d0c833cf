internal import Glibc
internal import TestSupport
internal import Testing

/// A shared store under a name of several addresses, for a proxy with a list of hosts of its own.
@Suite(
    .enabled(if: RedisServer.program != nil, Comment(rawValue: RedisServer.absence)), .timeLimit(.minutes(40))
)
struct SharedStoreNameTests {
    private static let addresses = ["127.0.0.2", "127.0.0.3"]

    private static let script = """
        for file in hosts nsswitch.conf; do mount --bind "$0/$file" "/etc/$file" || exit 2; done; exec "$@"
        """

    /// Returns the command that becomes the program behind it, for which store.test has these addresses.
    private static func launcher(in folder: TemporaryFolder) throws -> [String] {
        let hosts = addresses.map { "\($0) store.test\n" }.joined()
        try folder.write(Array(hosts.utf8), to: "hosts")
        try folder.write(Array("hosts: files\n".utf8), to: "nsswitch.conf")
        // Root makes the namespace itself; others need to be root of a user namespace first.
        let namespaces = (geteuid() == 0 ? [] : ["-U", "-r"]) + ["-m"]
        return ["/usr/bin/env", "unshare"] + namespaces + ["/bin/bash", "-c", script, folder.path]
    }

    /// True if a program that is launched so finds both.
    private static let isAllowed: Bool = {
        guard let folder = try? TemporaryFolder(), let command = try? launcher(in: folder),
            let found = try? RunningProcess.run(
                Array(command.dropFirst()) + ["getent", "ahosts", "store.test"], of: command[0])
        else { return false }
        return addresses.allSatisfy { found.text.contains($0) }
    }()

    @Test(.enabled(if: isAllowed, "hosts of its own need namespaces"), arguments: addresses)
    func `a shared store is found at whichever address of its name it is`(address: String) throws {
        let port = try freePort()
        let server = try RedisServer(["--bind", address], port: port)
        let folder = try TemporaryFolder()
        let proxy = try ServedProxy(
            Origin(wire("HTTP/1.1 200 OK", body: [])), in: folder,
            store: "\(folder.path)/store.sqlite\", shared: \"redis://store.test:\(port)",
            launcher: Self.launcher(in: folder))
        try waitUntil("requests use it", seconds: 120) {
            try proxy.metric("dictum_shared_store_state", where: "\"closed\"") == 1
        }
        withExtendedLifetime(server) {}
    }
}
