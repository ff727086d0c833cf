import TestSupport
import Testing

@testable import HTTP

/// Connections on which a user has logged in, by NTLM or Negotiate: whoever came next would be that user.
struct ClientLoginTests {
    /// Sends a request with a field, and has it answered with a status and a challenge; returns how many connections are kept.
    private func kept(_ field: String, _ status: String, _ challenge: String) throws -> [Int] {
        let upstream = try TestUpstream()
        let client = TestClient()
        let exchange = try client.begin(
            "GET / HTTP/1.1\r\nHost: a\r\n\(field)\r\n\r\n", to: upstream.endpoint)
        let peer = try upstream.accept()
        #expect(peer.readHead().hasPrefix("GET / "))
        peer.send("HTTP/1.1 \(status)\r\n\(challenge)\r\nContent-Length: 2\r\n\r\nok")
        #expect(exchange.outcome().last == "end")
        let counts = client.counts()
        if counts == [0, 0] { #expect(peer.readToEnd() == ("", .closed)) }
        return counts
    }

    @Test(arguments: [
        ("Authorization: NTLM TlRMTVNTUAAD", "200 OK", "X-A: 1"),
        ("Authorization: negotiate YIIF", "200 OK", "X-A: 1"),
        ("X-A: 1", "401 Unauthorized", "WWW-Authenticate: Basic realm=\"a, b\", Negotiate"),
        (
            "X-A: 1", "401 Unauthorized",
            "WWW-Authenticate: Basic realm=x\r\nWWW-Authenticate: ntlm TlRMTVNTUAAC"
        ),
    ])
    func `a connection on which a user logs in is not kept`(field: String, status: String, challenge: String)
        throws
    {
        #expect(try kept(field, status, challenge) == [0, 0])
    }

    @Test(arguments: [
        ("Authorization: Bearer NTLM", "200 OK", "X-A: 1"),
        ("Authorization: NTLMx a", "200 OK", "WWW-Authenticate: Negotiate"),
        ("X-A: 1", "401 Unauthorized", "WWW-Authenticate: Digest realm=\"Negotiate, NTLM\", NTLM=1"),
    ])
    func `a connection is kept if its requests log in by themselves`(
        field: String, status: String, challenge: String
    ) throws {
        #expect(try kept(field, status, challenge) == [1, 0])
    }
}
