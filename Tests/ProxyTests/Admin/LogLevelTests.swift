internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let first = Feed.bytes(version: 0, items: 40)
private let typed = "Content-Type: application/json"

extension TestProxy {
    fileprivate func putLevel(_ body: String, _ fields: String...) throws -> WireMessage {
        let lines = (["PUT /log-level HTTP/1.1", "Host: localhost"] + fields).joined(separator: "\r\n")
        return try admin(lines, body: Array(body.utf8))
    }
}

@Suite(.timeLimit(.minutes(40))) struct LogLevelTests {
    @Test func `a threshold lets its own level through, and those that are more urgent`() {
        let threshold = LogThreshold(.warning)
        #expect(threshold.includes(.error) && threshold.includes(.warning) && !threshold.includes(.info))
        threshold.level = .error
        #expect(threshold.level == .error && !threshold.includes(.warning))
    }

    @Test func `the log level changes at once, and a reload goes by the configuration`() throws {
        let proxy = try TestProxy(json(first))
        #expect(
            try proxy.putLevel(#"{"level":"debug"}"#, typed).text
                == #"{"configured":"info","level":"debug"}"# + "\n")
        #expect(try proxy.read("/log-level").text("level") == "debug")
        #expect(proxy.events.withLock { $0 }.contains { "\($0)".contains("log.level is debug, was info") })
        try proxy.reload("log: {level: error}")
        #expect(try proxy.read("/log-level").text("level") == "error")
        #expect(try proxy.read("/log-level").text("configured") == "error")
    }

    @Test func `the log has each change of its level, also those from and to errors alone`() throws {
        let (threshold, logged) = (LogThreshold(.info), Guarded<[String]>([]))
        let context = try ProxyContext.open(
            TestProxy.configuration(Origin(json(first))),
            log: { event in
                guard event.level == .warning, threshold.includes(.warning) else { return }
                logged.withLock { $0.append(event.text) }
            }, loopCount: 1, links: LinkTerms())
        defer { context.store.close() }
        let status = AdminStatus(context: context, loops: [], sink: nil, logThreshold: threshold) {
            LoopReading(counters: [], silentLoops: 0)
        }
        for level in [LogLevel.error, .warning] { status.logLevel = level }
        let starts = logged.withLock { $0.map { $0.prefix { $0 != "(" } } }
        #expect(starts == ["log.level is error, was info ", "log.level is warning, was error "])
    }

    @Test(arguments: ["", "{}", #"{"level":"loud"}"#, #"{"level":1}"#, "level=debug", "[", #""debug""#])
    func `another body than a level changes nothing`(body: String) throws {
        let proxy = try TestProxy(json(first))
        let answer = try proxy.putLevel(body, typed, "Accept: application/json")
        #expect(answer.status == 400)
        #expect(answer["Content-Type"] == "application/problem+json")
        #expect(try proxy.read("/log-level").text("level") == "info")
    }

    @Test func `a page of another origin cannot change the log level`() throws {
        let proxy = try TestProxy(json(first))
        let level = #"{"level":"debug"}"#
        #expect(try proxy.putLevel(level, typed, "Origin: http://attacker.test").status == 403)
        #expect(try proxy.putLevel(level, typed, "Sec-Fetch-Site: cross-site").status == 403)
        #expect(try proxy.putLevel(level, "Content-Type: text/plain").status == 415)
        #expect(try proxy.read("/log-level").text("level") == "info")
    }
}
