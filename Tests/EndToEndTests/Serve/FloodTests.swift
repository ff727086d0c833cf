internal import Glibc
internal import TestSupport
internal import Testing

private let body = Feed.bytes(version: 0, items: 40)

/// More connections than there are places or descriptors for.
@Suite(.timeLimit(.minutes(40))) struct FloodTests {
    private func proxy(descriptors: Int, _ settings: String = "") throws -> ServedProxy {
        try ServedProxy(
            Origin(
                wire(
                    "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: public, max-age=60",
                    body: body)),
            in: TemporaryFolder(),
            settings, launcher: ["/bin/bash", "-c", "ulimit -n \(descriptors); exec \"$@\"", "launcher"])
    }

    private func descriptorCount(of proxy: ServedProxy) throws -> Int {
        let names = try RunningProcess.run(["/proc/\(proxy.process.pid)/fd"], of: "/usr/bin/ls").text
        return names.split(separator: "\n").count
    }

    @Test func `clients never take the descriptors that those who are served need`() throws {
        // Half of what is left beside the reserve, of which each processor has a part.
        let reserve = 160 + 8 * max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        let proxy = try self.proxy(descriptors: reserve + 64, "limits: {head_timeout: 10m}")
        #expect(try proxy.process.waitFor("raise LimitNOFILE").contains("allows only 32 clients"))
        let early = try WireSocket(port: proxy.port)
        #expect(try early.get("/feed").body == body)
        var flood = try (0..<200).map { _ in try WireSocket(port: proxy.port) }
        for _ in 0..<20 { #expect(try early.get("/feed", "Cache-Control: no-cache").body == body) }
        try waitUntil("the other connections are refused") {
            try proxy.metric("dictum_rejected_requests_total", where: "too-many-connections") > 0
        }
        // Accepted clients send requests at once, each over its own upstream connection. The others get a refusal or
        // are closed.
        flood.forEach { $0.send("GET /feed HTTP/1.1\r\nHost: api.test\r\n\r\n") }
        let statuses = flood.map { (try? $0.receive().status) ?? 0 }
        #expect(statuses.count { $0 == 200 } == 31)
        #expect(statuses.allSatisfy { [200, 503, 0].contains($0) }, "\(statuses)")
        flood = []
        try waitUntil("there are places again") {
            (try? WireSocket(port: proxy.port).get("/feed").status) == 200
        }
        #expect(try early.get("/feed").body == body)
        #expect(try proxy.process.terminate().status == 0)
    }

    @Test func `without any descriptor left the process goes on, and accepts when there are some again`()
        throws
    {
        // Hardly more than it has as it starts, so that less than its smallest number of clients takes the last.
        let count = try descriptorCount(of: self.proxy(descriptors: 1_024)) + 8
        let proxy = try self.proxy(descriptors: count, "limits: {head_timeout: 10m}")
        let early = try WireSocket(port: proxy.port)
        var flood = try (0..<100).map { _ in try WireSocket(port: proxy.port) }
        flood.forEach { $0.send("GET /feed HTTP/1.1\r\nHost: api.test\r\n") }
        try waitUntil("the descriptors are used up") {
            try descriptorCount(of: proxy) >= count
        }
        flood = []
        try waitUntil("it accepts again") { (try? WireSocket(port: proxy.port).get("/feed").status) == 200 }
        #expect(try early.get("/feed").body == body)
        #expect(try proxy.process.terminate().status == 0)
    }
}
