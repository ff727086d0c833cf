internal import Foundation
internal import TestSupport
internal import Testing

/// A file system of a few megabytes that only one process sees, in a mount namespace of its own.
struct SmallDisk {
    /// True if the tests can mount one: as root with CAP_SYS_ADMIN, or in a user namespace.
    static let isAllowed = (try? RunningProcess.run(namespace + ["true"], of: "/usr/bin/env").status) == 0

    /// Root makes the namespace itself; others need to be root of a user namespace first.
    private static let namespace = geteuid() == 0 ? ["unshare", "-m"] : ["unshare", "-U", "-r", "-m"]

    /// The mount point, as seen by the process in the namespace.
    let path: String

    init(in folder: TemporaryFolder) throws {
        path = "\(folder.path)/disk"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    /// The command that mounts the disk and then executes the program named after it.
    var launcher: [String] {
        Self.namespace + ["/bin/bash", "-c", #"mount -t tmpfs -o size=8m none "$0" && exec "$@""#, path]
    }

    /// The path by which other processes reach the disk of that process.
    func path(seenBy process: RunningProcess) -> String { "/proc/\(process.pid)/root\(path)" }

    /// The command that runs the one behind it where that process sees the disk.
    static func entering(_ process: RunningProcess) -> [String] {
        let user = geteuid() == 0 ? [] : ["-U", "--preserve-credentials"]
        return ["nsenter"] + user + ["-m", "-t", "\(process.pid)"]
    }

    /// Leaves no byte free.
    func fill(_ process: RunningProcess) throws {
        let filling = try RunningProcess.run(
            ["-c", "cat /dev/zero > filler"], of: "/bin/bash", in: path(seenBy: process))
        try #require(filling.errors.contains("No space left on device"))
    }

    /// Frees the space again.
    func empty(_ process: RunningProcess) throws {
        try FileManager.default.removeItem(atPath: "\(path(seenBy: process))/filler")
    }
}
