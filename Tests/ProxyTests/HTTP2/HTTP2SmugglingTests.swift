internal import TestSupport
internal import Testing

@testable import Proxy

/// The disguises of framing as fields of HTTP/2, whose frames alone say where a body ends (RFC 9113 section 8.2.2).
@Suite(.timeLimit(.minutes(40))) struct HTTP2SmugglingTests {
    /// The lines of an HTTP/1.1 head as fields, the names in lower case, and the bytes behind the head.
    private func fields(of message: [UInt8]) -> (fields: [(name: [UInt8], value: [UInt8])], body: [UInt8]) {
        var (fields, rest) = ([(name: [UInt8], value: [UInt8])](), message[...])
        while let end = rest.firstRange(of: Array("\r\n".utf8)) {
            let line = rest[..<end.lowerBound]
            rest = rest[end.upperBound...]
            if line.isEmpty { break }
            guard let colon = line.firstIndex(of: 0x3a) else { continue }
            let value = line[(colon + 1)...].drop { $0 == 0x20 }
            fields.append((line[..<colon].map { 0x41...0x5a ~= $0 ? $0 | 0x20 : $0 }, Array(value)))
        }
        return (fields, Array(rest))
    }

    @Test(arguments: Disguises.Family.allCases)
    func `no disguise of framing reaches the upstream through HTTP/2`(family: Disguises.Family) throws {
        let proxy = try TestProxy(wire("HTTP/1.1 200 OK", body: Array("ok".utf8)))
        var (forwarded, refused) = (0, 0)
        for bytes in Disguises.requests(of: family) {
            let text = String(decoding: bytes, as: UTF8.self).debugDescription
            let (lines, body) = fields(of: bytes)
            let others = lines.filter { $0.name != Array("host".utf8) }
            let peer = try proxy.connectHTTP2()
            let pseudo = [(":method", "POST"), (":scheme", "http"), (":authority", "a"), (":path", "/first")]
            peer.send(
                HTTP2Peer.Kind.headers, 4, stream: 1,
                payload: HTTP2Peer.block(pseudo) + HTTP2Peer.block(bytes: others))
            peer.data(1, body, endsStream: true)
            let response = try #require(peer.response(1), "\(text): the connection has ended")
            let taken = proxy.origin.requests.dropFirst(forwarded)
            forwarded += taken.count
            #expect(taken.count <= 1)
            for request in taken {
                let ambiguity = SmugglingTests.ambiguity(of: request)
                #expect(ambiguity == nil, "\(text): \(request)")
                #expect(request.body == body, "\(text): \(request)")
            }
            #expect((response.status == "200") == (taken.count == 1), "\(text): \(response)")
            #expect(response.status != "502", "\(text): the upstream did not understand")
            if response.resetCode == 1 || response.status == "400" { refused += 1 }
        }
        #expect(refused > 10)
    }
}
