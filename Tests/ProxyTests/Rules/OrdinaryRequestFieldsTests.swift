internal import HTTP
internal import Testing

@testable import Proxy

/// Tests the closed list of request fields that may influence shared responses.
struct OrdinaryRequestFieldsTests {
    private func isOrdinary(_ lines: [String], trusted: Bool = false, target: String = "/a") throws -> Bool {
        let text = (["GET \(target) HTTP/1.1", "Host: shop.example"] + lines + ["", ""]).joined(
            separator: "\r\n")
        var parser = HeadParser(limits: MessageLimits())
        let head = try #require(try parser.parseRequest(Array(text.utf8).span))
        return OrdinaryRequestFields.areAll(in: head, isPeerTrusted: trusted)
    }

    @Test(arguments: [
        [],
        [
            "Connection: keep-alive", "sec-ch-ua: \"Chromium\";v=\"140\"", "sec-ch-ua-mobile: ?0",
            "sec-ch-ua-platform: \"Linux\"", "Upgrade-Insecure-Requests: 1", "User-Agent: Mozilla/5.0",
            "Accept: text/html", "Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: navigate",
            "Sec-Fetch-User: ?1",
            "Sec-Fetch-Dest: document", "Referer: https://shop.example/",
            "Accept-Encoding: gzip, br, zstd, dcb, dcz",
            "Accept-Language: en-US,en;q=0.9", "Available-Dictionary: :AAAA:", "Dictionary-ID: \"1\"",
            "If-None-Match: \"a\"", "DNT: 1", "Sec-GPC: 1", "Priority: u=0, i", "Cache-Control: max-age=0",
        ],
        ["User-Agent: curl/8.5.0", "Accept: */*", "TE: trailers", "Connection: TE, close"],
        ["Origin: https://app.example", "Referer: https://app.example/"],
        ["traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"],
        ["Content-Length: 0"],
        [
            "Keep-Alive: timeout=5", "Proxy-Connection: keep-alive", "Pragma: no-cache", #"If-Match: "a""#,
            "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT", "Sec-Purpose: prefetch",
            "If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT", "Sec-Fetch-Storage-Access: none",
        ],
        ["Referer: https://Shop.Example/a"], ["Referer: http://shop.example?a/b"],
        ["Referer: https://shop.example#a"], ["Origin: https://app.example", "Referer: https://app.example"],
        // The proxy ignores these fields from untrusted clients.
        [
            "X-Forwarded-For: 1.2.3.4", "X-Forwarded-Host: evil.example", "X-Forwarded-Proto: gopher",
            "Forwarded: host=e",
        ],
    ])
    func `browsers and plain clients send ordinary fields only`(_ lines: [String]) throws {
        #expect(try isOrdinary(lines))
    }

    @Test(arguments: [
        "X-Host: evil.example", "X-Original-URL: /admin", "X-Rewrite-URL: /admin",
        "X-Forwarded-Prefix: /evil",
        "X-Forwarded-Port: 1337", "X-Forwarded-Scheme: http", "X-HTTP-Method-Override: POST",
        "X-Requested-With: a",
        "Authorization: Basic YQ==", "Cookie: a=b", "X-Session-Token: a", "From: alice@example.com",
        "baggage: user=a",
        "tracestate: a=b", "traceparent: <script>", "X-Real-IP: 1.2.3.4", "X-Request-ID: 1", "Via: 1.1 evil",
        "traceparent: 01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-<script>",
        "Connection: accept-language", "Connection: keep-alive, x-forwarded-proto", "Save-Data: on",
        "Range: bytes=0-1",
        "Content-Length: 7", "Transfer-Encoding: chunked", "Content-Type: text/x", "Sec-Anything: 1",
        "CF-Ray: 1",
        "Referer: https://evil.example/", "Referer: https://shop.example.evil.example/",
        "Referer: javascript:alert(1)",
        "Referer: https://shop.example@evil.example/",
        "Referer: https://shop.example/\r\nReferer: https://evil.example/",
        "Origin: https://app.example\r\nReferer: https://app.example/private",
    ])
    func `any other field, and a value that others must not see, is not ordinary`(_ line: String) throws {
        #expect(try !isOrdinary([line]))
    }

    @Test(arguments: [
        (["X-Forwarded-For: 1.2.3.4", "X-Forwarded-Proto: https", "X-Forwarded-Host: Shop.example"], true),
        (["X-Forwarded-Port: 443", "X-Real-IP: 1.2.3.4", "X-Request-ID: 1", "Via: 1.1 lb"], true),
        (["CF-Ray: 1", "CF-Connecting-IP: 1.2.3.4", "CDN-Loop: cloudflare"], true),
        (["X-Forwarded-Port: 80", "X-Forwarded-Proto: HTTP"], true),
        (["CF-Visitor: a", "X-Amzn-Trace-Id: Root=1", "X-Cloud-Trace-Context: 1/2"], true),
        (["X-Forwarded-Host: evil.example"], false),
        (["X-Forwarded-Host: shop.example, evil.example"], false),
        (["X-Forwarded-Proto: gopher"], false), (["X-Forwarded-Port: 1337"], false),
        (["Forwarded: host=e"], false),
        (["CF-IPCountry: XX"], false), (["X-Amzn-Oidc-Data: a"], false),
    ])
    func `a trusted proxy adds its own fields, which name this host`(_ lines: [String], isOrdinary: Bool)
        throws
    {
        #expect(try self.isOrdinary(lines, trusted: true) == isOrdinary)
    }

    @Test func `the target's own authority counts, as it does for the upstream`() throws {
        let line = ["Referer: https://shop.example/"]
        #expect(try isOrdinary(line))
        #expect(try !isOrdinary(line, target: "http://other.example/a"))
    }
}
