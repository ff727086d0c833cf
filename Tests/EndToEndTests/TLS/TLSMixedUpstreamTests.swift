internal import Foundation
internal import Glibc
internal import TestSupport
internal import Testing

/// Tests a mix of TLS and plain upstreams.
@Suite(.timeLimit(.minutes(40))) struct TLSMixedUpstreamTests {
    private let certificates: TestCertificates
    private let plain: Origin
    /// Each loop has its own round robin.
    private let loops = ProcessInfo.processInfo.activeProcessorCount

    init() throws {
        certificates = try TestCertificates()
        plain = try Origin(wire("HTTP/1.1 200 OK", body: [UInt8]("plain".utf8)))
    }

    /// Returns a proxy for upstreams at these URLs.
    private func proxy(_ urls: [String], _ settings: String = "") throws -> ServedProxy {
        let list = urls.map { "\"\($0)\"" }.joined(separator: ", ")
        let upstream = "urls: [\(list)], tls: {ca: \"\(certificates.file("ca.pem"))\"}, fail_timeout: 1h"
        return try ServedProxy(plain, in: TemporaryFolder(), upstream: "{\(upstream)\(settings)}")
    }

    /// Returns an upstream whose certificate is for another name.
    private func impostor() throws -> SecureOrigin {
        try certificates.issue("other", names: "DNS:other.test")
        return try SecureOrigin(certificates, "other")
    }

    @Test func `each upstream is spoken to by the scheme of its URL, and must be the host that is in it`()
        throws
    {
        let (named, addressed) = (try SecureOrigin(certificates), try SecureOrigin(certificates))
        let proxy = try proxy([
            "http://127.0.0.1:\(plain.port)", "https://localhost:\(named.port)",
            "https://127.0.0.1:\(addressed.port)",
        ])
        var texts: [String] = []
        // localhost may have two addresses.
        for _ in 0..<4 * loops {
            let answer = try proxy.curl("/info")
            #expect(answer.code == 0 && answer.head.status == 200)
            texts.append(String(decoding: answer.body, as: UTF8.self))
        }
        for expected in ["plain", "sni=localhost", "sni=None"] {
            #expect(texts.contains { $0.contains(expected) }, "\(texts)")
        }
        let asked = plain.requests.count { $0.startLine.hasPrefix("GET /info ") }
        #expect(asked == texts.count { $0 == "plain" }, "\(texts) \(plain.requests)")
    }

    @Test func `an upstream whose handshake fails is passed over, and no request is lost by it`() throws {
        let impostor = try impostor()
        let url = "https://127.0.0.1:\(impostor.port)"
        let proxy = try proxy([url, "http://127.0.0.1:\(plain.port)"])
        // Enough for three turns of the one that fails, however the loops share them.
        let count = loops + 8
        for number in 0..<count {
            // No byte of the request was sent, so even a request with a body can go to the other upstream.
            let answer = try proxy.curl("/", arguments: number % 2 == 0 ? [] : ["-d", "number=\(number)"])
            #expect(answer.carries([UInt8]("plain".utf8)))
        }
        #expect(plain.requests.count == count)
        #expect(
            try proxy.process.waitFor("no TLS with the upstream 127.0.0.1:\(impostor.port)").isEmpty == false)
        let said = try proxy.process.waitFor("upstream \(url) failed 3 times in a row")
        #expect(said.contains("the certificate cannot be trusted (IP address mismatch)"))
        #expect(try proxy.metric("dictum_upstream_errors_total", where: "\"tls\"") == 3)
        #expect(try proxy.metric("dictum_upstream_retries_total", where: "\"connect\"") == 3)
        #expect(try proxy.metric("dictum_upstream_healthy", where: url) == 0)
    }

    @Test func `checks of an https upstream go by TLS, and its certificate counts`() throws {
        let (genuine, impostor) = (try SecureOrigin(certificates), try impostor())
        let urls = [genuine, impostor].map { "https://127.0.0.1:\($0.port)" }
        let proxy = try proxy(urls, ", health: {path: /healthz, interval: 100ms}")
        _ = try proxy.process.waitFor("upstream \(urls[1]) does not pass its health check")
        for _ in 0..<4 {
            #expect(String(decoding: try proxy.curl("/info").body, as: UTF8.self).contains("TLSv1.3"))
        }
        #expect(try proxy.metric("dictum_upstream_healthy", where: urls[0]) == 1)
        #expect(try proxy.metric("dictum_upstream_retries_total") == 0)
    }

    @Test func `a reload that brings the first https upstream, or takes the last, loses no request`() throws {
        let secure = try SecureOrigin(certificates)
        let urls = ["http://127.0.0.1:\(plain.port)", "https://localhost:\(secure.port)"]
        let proxy = try proxy([urls[0]], ", health: {path: /healthz, interval: 100ms}")
        let folder = proxy.folder
        let first = String(decoding: try #require(folder.read("dictum.yaml")), as: UTF8.self)
        // One client sends requests continuously while the upstreams swap their places.
        let script = """
            until [ -e stop ]; do
                curl -sS --max-time 20 -o /dev/null -w '%{http_code}\\n' \(proxy.url("/info")) >> codes 2>&1
            done
            """
        let asking = try RunningProcess(["-c", script], of: "/bin/bash", in: folder.path)
        let codes = { String(decoding: folder.read("codes") ?? [], as: UTF8.self).split(separator: "\n") }
        for turn in 1...6 {
            let before = codes().count
            let text = turn % 2 == 0 ? first : first.replacing(urls[0], with: urls[1])
            try folder.write(Array(text.utf8), to: "dictum.yaml")
            proxy.process.signal(SIGHUP)
            try waitUntil("it is in effect") {
                try proxy.metric("dictum_reloads_total", where: "done") == Double(turn)
            }
            let body = String(decoding: try proxy.curl("/info").body, as: UTF8.self)
            #expect(body.contains(turn % 2 == 0 ? "plain" : "TLSv1.3"), "\(body)")
            try waitUntil("the client has had an answer since") { codes().count > before }
        }
        try folder.write([], to: "stop")
        #expect(try asking.result().status == 0)
        #expect(codes().allSatisfy { $0 == "200" }, "\(codes())")
    }
}
