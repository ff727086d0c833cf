internal import Foundation

/// Returns a port of loopback on which nobody listens now.
///
/// It lies below the range from which the kernel takes ports for connections, so that no connection gets it before the
/// server does.
package func freePort() throws -> UInt16 {
    let range = try String(contentsOfFile: "/proc/sys/net/ipv4/ip_local_port_range", encoding: .utf8)
    let first = range.split { $0.isWhitespace }.first.flatMap { UInt16($0) } ?? 32_768
    var listener: WireListener?
    for _ in 0..<100 where listener == nil {
        listener = try? WireListener(port: .random(in: max(first / 2, 1_024)..<max(first, 2_048)))
    }
    guard let listener else { throw NoFreePort() }
    return listener.port
}

private struct NoFreePort: Error {}
