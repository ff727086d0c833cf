internal import TestSupport

@testable import HTTP

extension HTTP2Peer {
    /// Connects, and sends preface and SETTINGS unless told otherwise.
    convenience init(_ server: TestServer, settings: [(UInt16, UInt32)]? = [], receiveBytes: Int32? = nil)
        throws
    {
        guard case .ip(_, let port) = server.endpoint else { throw SystemError(code: 22) }
        try self.init(port: port, settings: settings, receiveBytes: receiveBytes)
    }

    /// Reads to the end of the connection; returns the error of the last GOAWAY.
    func ending() -> HTTP2Error? { endingCode().flatMap { HTTP2Error(rawValue: $0) } }
}

extension HTTP2Peer.Frame {
    var error: HTTP2Error? { code.flatMap { HTTP2Error(rawValue: $0) } }
}

extension HTTP2Peer.Response {
    var reset: HTTP2Error? { resetCode.flatMap { HTTP2Error(rawValue: $0) } }
}
