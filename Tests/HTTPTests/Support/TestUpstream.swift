internal import Glibc
internal import TestSupport

@testable import HTTP

/// A listening socket whose connections a test serves by hand.
final class TestUpstream {
    /// The listening address.
    let endpoint: Endpoint
    private let listener: WireListener

    /// Listens on a port that the system chooses.
    init(backlog: Int32 = 16, receiveBuffer: Int32? = nil) throws {
        listener = try WireListener(backlog: backlog, receiveBytes: receiveBuffer)
        endpoint = .ip(try loopback(), port: listener.port)
    }

    /// Accepts the next connection within a minute.
    func accept() throws -> WireSocket { try listener.accept() }
}

extension WireSocket {
    /// Connects to an address of this machine.
    convenience init(to endpoint: Endpoint, receiveBytes: Int32? = nil, isAwaited: Bool = true) throws {
        guard case .ip(_, let port) = endpoint else { throw SystemError(code: EINVAL) }
        try self.init(port: port, receiveBytes: receiveBytes, isAwaited: isAwaited)
    }
}

/// Returns 127.0.0.1.
func loopback() throws -> IPAddress {
    guard let address = IPAddress("127.0.0.1") else { throw SystemError(code: EINVAL) }
    return address
}
