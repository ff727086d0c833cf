internal import TestSupport
internal import Testing

@testable import Proxy

/// RFC 9112 section 11.2: for any client input, the upstream gets requests that all readers understand alike.
@Suite(.timeLimit(.minutes(40))) struct SmugglingTests {
    /// Returns the ambiguity in a forwarded request, or nil if there is only one way to read it.
    static func ambiguity(of request: WireMessage) -> String? {
        guard request.isWhole else { return "a body that is not whole" }
        // The names as in a server that passes fields on as variables.
        let names = request.fields.map {
            String($0.name.lowercased().map { $0.isLetter || $0.isNumber ? $0 : "-" })
        }
        for field in request.fields {
            guard !field.name.isEmpty, field.name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
                return "a name that is none"
            }
            guard field.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }) else {
                return "a control byte"
            }
        }
        let framings = names.filter { $0 == "content-length" || $0 == "transfer-encoding" }
        guard framings.count <= 1, names.count(where: { $0 == "host" }) == 1 else {
            return "two framings or hosts"
        }
        let lengths = request.values("Content-Length")
        let codings = request.values("Transfer-Encoding")
        guard lengths.count + codings.count == framings.count else { return "a disguised name" }
        guard codings.isEmpty || codings == ["chunked"] else { return "a disguised coding" }
        guard lengths.allSatisfy({ Int($0).map(String.init) == $0 }) else { return "a disguised length" }
        let isPlainBody = ["POST", "PUT", "PATCH"].contains(request.method) || request.body.isEmpty
        guard isPlainBody || request.members("Connection").contains("close") || request.method == "get" else {
            return "a body that is not expected, on a connection that goes on"
        }
        return nil
    }

    @Test(arguments: Disguises.Family.allCases)
    func `no disguise of framing reaches the upstream, and who sends one loses the connection`(
        family: Disguises.Family
    ) throws {
        let proxy = try TestProxy(wire("HTTP/1.1 200 OK", body: Array("ok".utf8)))
        var forwarded = 0
        var refused = 0
        for bytes in Disguises.requests(of: family) {
            let text = String(decoding: bytes, as: UTF8.self)
            let client = try proxy.connect()
            client.send(bytes)
            client.closeWriting()
            let answers = String(decoding: client.receiveAll(), as: UTF8.self)
            #expect(client.ending != .timedOut, "\(text.debugDescription): the connection has not ended")
            let taken = proxy.origin.requests.dropFirst(forwarded)
            forwarded += taken.count
            for request in taken {
                let ambiguity = Self.ambiguity(of: request)
                #expect(ambiguity == nil, "\(text.debugDescription): \(request)")
            }
            let good = answers.split(separator: "HTTP/1.1 ").count { $0.hasPrefix("200 ") }
            #expect(good <= taken.count, "\(text.debugDescription): \(answers)")
            if answers.contains("HTTP/1.1 400 ") || answers.contains("HTTP/1.1 501 ") { refused += 1 }
            #expect(
                !answers.contains("HTTP/1.1 502"), "\(text.debugDescription): the upstream did not understand"
            )
        }
        // The tables hold both kinds, or they would prove nothing.
        #expect(refused > 10)
        #expect(family == .transferEncodingTwice || family == .bothFields ? forwarded == 0 : forwarded > 0)
    }
}
