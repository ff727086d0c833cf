internal import Foundation
internal import Glibc

package enum ProcessMemory {
    /// Returns the least of the machine's memory, the limits of the control groups, and the resource limits, in bytes.
    package static func usableBytes() -> Int {
        ([machineBytes, resourceLimit(RLIMIT_AS), resourceLimit(RLIMIT_DATA)] + groupLimits()).min() ?? 0
    }

    private static var machineBytes: Int { sysconf(Int32(_SC_PHYS_PAGES)) * Int(getpagesize()) }

    private static func resourceLimit(_ resource: __rlimit_resource) -> Int {
        var limit = rlimit()
        // Safe: `limit` is local and outlives the call.
        guard unsafe getrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0 else { return .max }
        return Int(clamping: limit.rlim_cur)
    }

    /// Returns the limits of the process's control groups and of the groups above them, in bytes.
    ///
    /// - Parameter root: The folder that has `/proc` and `/sys`.
    static func groupLimits(root: String = "") -> [Int] {
        text("\(root)/proc/self/cgroup").split(separator: "\n").flatMap { line -> [Int] in
            // HIERARCHY:CONTROLLERS:PATH; version 2 has no controllers.
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { return [] }
            var names = fields[2].split(separator: "/").map(String.init)
            let (mount, files) =
                if fields[1].isEmpty {
                    ("/sys/fs/cgroup", ["memory.max", "memory.high"])
                } else if fields[1].split(separator: ",").contains("memory") {
                    ("/sys/fs/cgroup/memory", ["memory.limit_in_bytes"])
                } else {
                    ("", [String]())
                }
            var limits: [Int] = []
            // In a container the path may be that of the machine, while the group itself is at the top.
            while true {
                let group = ([root + mount] + names).joined(separator: "/")
                limits += files.compactMap { Int(text("\(group)/\($0)").prefix { $0 != "\n" }) }
                if names.popLast() == nil { return limits }
            }
        }
    }

    private static func text(_ path: String) -> String {
        (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    }
}
