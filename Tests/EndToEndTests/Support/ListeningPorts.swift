internal import Foundation

/// The TCP ports at which a process listens over IPv4, as the kernel has them.
///
/// A port that was closed may be another test's a moment later, so that connecting to it tells nothing.
/// The kernel gives its table out a page at a time, and one reading misses rows while the sockets of
/// other processes come and go; what one of ten readings has is there.
func listeningPorts(of pid: pid_t) throws -> Set<UInt16> {
    try (1...10).reduce(into: []) { ports, _ in try ports.formUnion(portsInTable(of: pid)) }
}

private func portsInTable(of pid: pid_t) throws -> Set<UInt16> {
    let folder = "/proc/\(pid)/fd"
    let held = try FileManager.default.contentsOfDirectory(atPath: folder).compactMap {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")
    }
    let rows = try String(contentsOfFile: "/proc/\(pid)/net/tcp", encoding: .utf8).split(separator: "\n")
    return Set(
        rows.compactMap { row in
            // sl, local address:port, remote address:port, state (0A: listening), six more, inode
            let columns = row.split(separator: " ")
            guard columns.count > 9, columns[3] == "0A", held.contains("socket:[\(columns[9])]") else {
                return nil
            }
            return columns[1].split(separator: ":").last.flatMap { UInt16($0, radix: 16) }
        })
}
