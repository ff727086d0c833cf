internal import Dictionaries
internal import Foundation
internal import Primitives
internal import TestSupport
internal import Testing

/// The opinion of httplint and redbot, the HTTP checkers from PyPI, on every kind of response.
@Suite(.timeLimit(.minutes(40))) struct LintTests {
    private static let packages = ["httplint==2026.10.4", "redbot==2.7.1"]

    /// Remarks that are a matter of taste.
    private static let accepted = [
        // The upstream of this test says so, for Links go out only where it is said.
        "Cache-Control: public is probably not necessary."
    ]

    /// An API with a feed that changes, a file that does not, and a page.
    private static func origin() throws -> Origin {
        let version = Guarded(0)
        let fixed = Feed.bytes(version: 0, items: 100)
        return try Origin { request, connection in
            let fresh = "Cache-Control: public, max-age=600"
            let json = "Content-Type: application/json"
            switch request.target {
            case "/feed":
                let number = version.withLock { number in
                    number += 1
                    return number
                }
                connection.send(
                    wire("HTTP/1.1 200 OK", json, fresh, body: Feed.bytes(version: number, items: 100)))
            case "/fixed" where range(request, of: fixed.count) != nil:
                let range = range(request, of: fixed.count) ?? 0...0
                connection.send(
                    wire(
                        "HTTP/1.1 206 Partial Content", json, fresh, "Accept-Ranges: bytes", "ETag: \"1\"",
                        "Content-Range: bytes \(range.lowerBound)-\(range.upperBound)/\(fixed.count)",
                        body: Array(fixed[range])))
            case "/fixed" where request.method == "HEAD":
                connection.send(
                    wire(
                        "HTTP/1.1 200 OK", json, fresh, "Accept-Ranges: bytes", "ETag: \"1\"",
                        "Content-Length: \(fixed.count)"))
            case "/fixed":
                connection.send(
                    wire("HTTP/1.1 200 OK", json, fresh, "Accept-Ranges: bytes", "ETag: \"1\"", body: fixed))
            case "/page":
                let page =
                    "<!doctype html><title>News</title><pre>" + String(decoding: fixed, as: UTF8.self)
                    + "</pre>"
                connection.send(
                    wire(
                        "HTTP/1.1 200 OK", "Content-Type: text/html; charset=utf-8", fresh,
                        body: Array(page.utf8)))
            default:
                connection.send(
                    wire(
                        "HTTP/1.1 404 Not Found", "Content-Type: text/plain; charset=utf-8",
                        "Cache-Control: max-age=60",
                        body: Array("not found".utf8)))
            }
        }
    }

    /// Returns the requested range of bytes; nil if the request has no valid range.
    private static func range(_ request: WireMessage, of count: Int) -> ClosedRange<Int>? {
        guard let numbers = request["Range"]?.wholeMatch(of: /bytes=([0-9]+)-([0-9]+)/)?.output,
            let first = Int(numbers.1), let last = Int(numbers.2), first <= last, last < count
        else { return nil }
        return first...last
    }

    @Test func `httplint and redbot find nothing wrong in any kind of response`() throws {
        guard let python = try PythonEnvironment.python("lint", with: Self.packages) else {
            return print("skipped: PyPI is out of reach, so there is no httplint")
        }
        let proxy = try ServedProxy(
            Self.origin(), in: TemporaryFolder(),
            #"routes: [{match: /page, dictionary: {delivery: link}}, {match: "/*"}]"#)
        try proxy.folder.write(Array(Self.script.utf8), to: "lint.py")
        let result = try RunningProcess.run(["lint.py", "\(proxy.port)"], of: python, in: proxy.folder.path)
        #expect(result.status == 0, "\(result.errors)")
        let lines = result.text.split(separator: "\n")
        let wrong = lines.filter { line in
            line.hasPrefix("WRONG") && !Self.accepted.contains { line.hasSuffix($0) }
        }
        #expect(wrong.isEmpty, "\(wrong.joined(separator: "\n"))")
        let codings: [(String, String)] = [
            ("identity", "200 identity"), ("gzip", "200 gzip"), ("br", "200 br"), ("zstd", "200 zstd"),
            ("dcz", "200 dcz"),
            ("dcb", "200 dcb"), ("304", "304"), ("HEAD", "200"), ("206", "206"), ("404", "404"),
            ("Link", "200 gzip"),
            ("Link dcz", "200 dcz"), ("dictionary", "200 identity"), ("dictionary br", "200 br"),
            ("dictionary dcz", "200 dcz"),
        ]
        for (name, expected) in codings {
            #expect(
                lines.contains { $0.hasPrefix("\(name): \(expected)") },
                "no \(name): \(expected) in \(result.text)")
        }
        #expect(lines.filter { $0.hasPrefix("redbot /") }.count == 5, "\(result.text)")
    }

    /// Sends every kind of request, has both linters check the messages, and prints a line `WRONG` per complaint.
    private static let script = #"""
        import base64, hashlib, json, socket, subprocess, sys, time
        from httplint.message import HttpRequestLinter, HttpResponseLinter

        port = int(sys.argv[1])

        def complain(name, level, summary):
            if level in ("WARN", "BAD"): print(f"WRONG {name}: {level}: {summary}")

        def exchange(method, target, *fields, source="127.0.0.1"):
            client = socket.create_connection(("127.0.0.1", port), timeout=60, source_address=(source, 0))
            lines = [f"{method} {target} HTTP/1.1", f"Host: 127.0.0.1:{port}", "Connection: close", *fields, "", ""]
            client.sendall("\r\n".join(lines).encode())
            data = b""
            while piece := client.recv(65536):
                data += piece
            head, body = data.split(b"\r\n\r\n", 1)
            top, *rest = head.split(b"\r\n")
            headers = [tuple(line.split(b": ", 1)) for line in rest]
            if any(name.lower() == b"transfer-encoding" for name, _ in headers):
                plain = b""
                while body:
                    size, body = body.split(b"\r\n", 1)
                    count = int(size, 16)
                    plain, body = plain + body[:count], body[count + 2:]
                    if not count: break
                body = plain
            return top, headers, body

        def lint(name, method, target, *fields):
            top, headers, body = exchange(method, target, *fields)
            request = HttpRequestLinter(start_time=time.time())
            request.process_request_topline(method.encode(), f"http://127.0.0.1:{port}{target}".encode(), b"1.1")
            request.process_headers([tuple(part.encode() for part in field.split(": ", 1)) for field in fields])
            request.finish_content(True)
            response = HttpResponseLinter(start_time=time.time(), _related=request, no_content=method == "HEAD")
            response.base_uri = f"http://127.0.0.1:{port}{target}"
            version, status, phrase = top.split(b" ", 2)
            response.process_response_topline(version[5:], status, phrase)
            response.process_headers(headers)
            response.feed_content(body)
            response.finish_content(True)
            value = {n.lower(): v for n, v in headers}
            print(f"{name}: {status.decode()} {value.get(b'content-encoding', b'identity').decode()} {len(body)}")
            for note in response.notes:
                for one in [note, *note.subnotes]:
                    complain(name, one.level.name, one.summary)
            return headers, body, value

        def held(body): return "Available-Dictionary: :" + base64.b64encode(hashlib.sha256(body).digest()).decode() + ":"

        document = ["Sec-Fetch-Dest: document", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Site: none"]

        def exchange_page(turn):
            # Three clients make a body public.
            top, headers, body = exchange("GET", "/page", *document, source=f"127.0.0.{1 + turn % 3}")
            return top, body, {n.lower(): v for n, v in headers}

        headers, first, value = lint("identity", "GET", "/feed")
        for coding in ["gzip", "br", "zstd"]:
            lint(coding, "GET", "/feed", f"Accept-Encoding: {coding}")
        for coding in ["dcz", "dcb"]:
            lint(coding, "GET", "/feed", f"Accept-Encoding: {coding}", held(first))
        _, _, fixed = lint("fixed", "GET", "/fixed", "Accept-Encoding: gzip")
        lint("304", "GET", "/fixed", "Accept-Encoding: gzip", "If-None-Match: " + fixed[b"etag"].decode())
        lint("HEAD", "HEAD", "/fixed")
        lint("HEAD gzip", "HEAD", "/fixed", "Accept-Encoding: gzip")
        lint("206", "GET", "/fixed", "Range: bytes=0-99")
        lint("404", "GET", "/none")
        lint("404 of Dictum", "GET", "/.dictum/none/none", "Accept: application/json")
        # The Link names a version that has been admitted.
        for turn in range(200):
            _, _, value = exchange_page(turn)
            if b"link" in value: break
            time.sleep(0.1)
        target = value[b"link"].decode().split("<")[1].split(">")[0]
        lint("Link", "GET", "/page", "Accept-Encoding: gzip", *document)
        _, whole, _ = lint("dictionary", "GET", target)
        lint("dictionary br", "GET", target, "Accept-Encoding: br")
        lint("dictionary dcz", "GET", target, "Accept-Encoding: dcz", held(whole))
        lint("Link dcz", "GET", "/page", "Accept-Encoding: dcz", held(whole), *document)

        for place in ["/feed", "/fixed", "/page", "/none", target]:
            url = f"http://127.0.0.1:{port}{place}"
            result = subprocess.run([sys.executable, "-m", "redbot.cli", "-o", "har", url], capture_output=True, timeout=120)
            entries = json.loads(result.stdout)["log"]["entries"]
            print(f"redbot {place}: {len(entries)} exchanges")
            for entry in entries:
                for note in entry["_red_messages"]:
                    for one in [note, *note.get("subnotes", [])]: complain("redbot " + place, one["level"], one["summary"])
        """#
}
