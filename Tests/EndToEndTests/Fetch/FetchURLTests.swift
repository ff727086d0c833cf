internal import Testing

@testable internal import dictum

/// The parts of a URL that `dictum fetch` makes its request of.
@Suite struct FetchURLTests {
    @Test(arguments: [
        ("a.test", "http://a.test/", 80), ("https://a.test:443/x", "https://a.test/x", 443),
        ("http://a.test:443/x", "http://a.test:443/x", 443),
        ("https://a.test:80/x", "https://a.test:80/x", 80),
        ("a.test/?u=https://b.test/", "http://a.test/?u=https://b.test/", 80),
        ("a.test/https://b.test/", "http://a.test/https://b.test/", 80),
        ("a.test/x?y#z", "http://a.test/x?y", 80), ("HTTPS://a.test/", "https://a.test/", 443),
    ])
    func `the default is http, and the port of its own scheme is left out`(
        written: String, text: String, port: Int
    ) throws {
        let url = try FetchURL(written)
        #expect(url.text == text && Int(url.port) == port)
    }

    @Test func `the host of an IPv6 address has no brackets, and its authority has them`() throws {
        let url = try FetchURL("http://[::1]:8080/x")
        #expect(url.host == "::1" && url.port == 8080 && url.authority == "[::1]:8080")
    }

    @Test func `nobody listens on port 0`() {
        #expect(throws: FetchError.notAURL("a.test:0/")) { try FetchURL("a.test:0/") }
    }

    @Test func `a reference is resolved against the whole URL`() throws {
        let base = try FetchURL("https://a.test/d/x?q")
        #expect(FetchURL("y", relativeTo: base)?.text == "https://a.test/d/y")
        #expect(FetchURL("//b.test/y", relativeTo: base)?.text == "https://b.test/y")
    }
}
