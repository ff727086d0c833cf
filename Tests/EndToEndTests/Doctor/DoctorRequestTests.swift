internal import Primitives
internal import TestSupport
internal import Testing

/// What `dictum doctor` sends, to whom, and how often.
@Suite(.timeLimit(.minutes(40))) struct DoctorRequestTests {
    /// An origin that answers every other request, and ends the connection of the others without a word.
    private static func forgetful() throws -> Origin {
        let count = Guarded(0)
        return try Origin { _, connection in
            let number = count.withLock { count in
                count += 1
                return count
            }
            guard number % 2 == 1 else { return connection.finish() }
            connection.send(
                wire(
                    "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: max-age=60",
                    body: feed(1)))
        }
    }

    @Test func `a URL whose response is not 200 is asked once`() throws {
        let origin = try Origin(wire("HTTP/1.1 404 Not Found", "Content-Type: text/plain", body: feed(1)))
        try Consultation.of("\(origin.url)/feed").expect("status")
        #expect(origin.requests.count == 1)
    }

    @Test func `a Link to another origin is named, and nothing is sent there`() throws {
        let other = try Origin(storable(feed(1), #"Use-As-Dictionary: match="/*""#))
        let origin = try Origin(
            wire(
                "HTTP/1.1 200 OK", "Content-Type: text/html", "Cache-Control: max-age=60",
                "Link: <\(other.url)/d>; rel=\"compression-dictionary\"", body: feed(1)))
        let report = try Consultation.of("\(origin.url)/page", "--cookie", "sid=1")
        report.expect("link-failed")
        #expect(report.findings.contains { $0.text.contains("it is not a URL of the same origin") })
        #expect(other.requests.isEmpty)
    }

    // MARK: Connections

    @Test func `a request on a connection that the server has ended is sent again on a new one`() throws {
        let origin = try Self.forgetful()
        let report = try Consultation.of("\(origin.url)/feed")
        #expect(report.names.contains("not-offered"), "\(report.names)")
        #expect(!report.names.contains("no-answer"), "\(report.names)")
        // Six responses, the first of them on a new connection, and five requests that had none.
        #expect(origin.requests.count == 11)
    }

    @Test func `a POST that may have had its effect is not sent again`() throws {
        let origin = try Self.forgetful()
        try Consultation.of("\(origin.url)/feed", "-d", "x").expect("no-answer")
        #expect(origin.requests.map(\.method) == ["POST", "POST"], "the second one had no response")
    }
}
