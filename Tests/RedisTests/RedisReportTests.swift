import Primitives
import Testing

@testable import Redis

/// What the operator hears of the shared store.
struct RedisReportTests {
    private final class Lane {}

    private let heard = Guarded<[RedisReport]>([])
    private let lanes = [Lane(), Lane()]
    private let reports: RedisReports

    init() {
        reports = RedisReports(server: "redis://a") { [heard] report in heard.withLock { $0.append(report) } }
    }

    private func fail(_ lane: Int) { _ = reports.unavailable(ObjectIdentifier(lanes[lane]), "why") }

    private func recover(_ lane: Int) {
        reports.available(ObjectIdentifier(lanes[lane]), RedisServerFacts())
    }

    private var infos: [String] {
        heard.withLock { $0 }.compactMap { if case .info(let text) = $0 { text } else { nil } }
    }

    @Test func `the store is available again once no connection fails any more`() {
        recover(0)
        fail(0)
        fail(1)
        recover(0)
        #expect(infos == ["shared store redis://a: connected"])
        recover(1)
        #expect(infos.last == "shared store redis://a: available again after 0 s")
        #expect(heard.withLock { $0.count } == 3, "the same cause is one warning")
    }

    @Test func `the first report of a server names what it is`() {
        var facts = RedisServerFacts()
        (facts.server, facts.version) = ("valkey", "8.1.1")
        reports.available(ObjectIdentifier(lanes[0]), facts)
        reports.available(ObjectIdentifier(lanes[1]), facts)
        #expect(infos == ["shared store redis://a: connected, valkey 8.1.1"])
    }

    @Test func `each kind of error that has advice is reported, and all others together once`() {
        for code in ["OOM", "NOPERM", "OOM", "STRANGE", "ODD", "NOPERM", "MISCONF", "NOREPLICAS"] {
            reports.note(RedisErrorReply(code: code, message: "m"))
        }
        let texts = heard.withLock { $0 }.map { "\($0)" }
        #expect(texts.count == 5)
        let parts = [
            "no memory left", "ACL forbids", "it replies STRANGE m", "cannot save its data",
            "too few replicas",
        ]
        for (text, part) in zip(texts, parts) { #expect(text.contains(part)) }
    }

    @Test func `two addresses that fail in two ways by turns are one warning`() {
        for cause in ["refused", "silent", "refused", "silent"] {
            _ = reports.unavailable(ObjectIdentifier(lanes[0]), cause)
        }
        #expect(heard.withLock { $0.count } == 1)
    }
}
