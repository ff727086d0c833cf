import TestSupport
import Testing

@testable import HTTP

/// The window of the connection, which all its streams share.
struct HTTP2WindowTests {
    private typealias Kind = HTTP2Peer.Kind

    @Test func `what a receiver has not taken of an upload that ends is given back to the others`() throws {
        let server = try TestServer { $0.connection.pauseRequest() }
        let peer = try HTTP2Peer(server)
        // Together they have twice the window of the connection.
        for number in 0..<20 {
            let stream = Int32(1 + 2 * number)
            peer.request(stream, method: "POST", endsStream: false)
            for _ in 0..<3 { peer.data(stream, [UInt8](repeating: 1, count: 16_000)) }
            peer.send(Kind.reset, stream: stream, payload: HTTP2Peer.number(8))
            peer.send(Kind.ping, payload: [1, 2, 3, 4, 5, 6, 7, 8])
            let end = peer.readFrame { $0.type == Kind.ping && $0.flags == 1 || $0.type == Kind.goAway }
            try #require(end?.type == Kind.ping, "upload \(number)")
        }
        #expect(peer.frames.contains { $0.type == Kind.windowUpdate && $0.stream == 0 })
    }
}
