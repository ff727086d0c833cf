internal import Dictionaries
internal import Foundation
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

@Suite(.timeLimit(.minutes(40))) struct ConcurrencyTests {
    @Test func `64 clients on several versions at once all get their bytes`() throws {
        let versions = (0..<6).map { Feed.bytes(version: $0, items: 120) }
        let origin = try Origin { request, connection in
            let number = request.target.split(separator: "=").last.flatMap { Int($0) } ?? 0
            connection.send(json(versions[number]))
        }
        let proxy = try TestProxy(origin)
        for number in versions.indices { _ = try proxy.fetch("/feed?v=\(number)") }
        let codings = ["dcz", "dcb", "zstd", "br", "gzip", "identity"]
        let failures = Guarded<[String]>([])
        let clients = try (0..<64).map { _ in try proxy.connect() }
        let done = clients.map { _ in Gate() }
        for (index, client) in clients.enumerated() {
            Thread.detachNewThread {
                defer { done[index].open() }
                for round in 0..<4 {
                    let (held, wanted) = (versions[(index + round) % 6], (index * 5 + round * 7) % 6)
                    let coding = codings[(index + round * 5) % 6]
                    let fields = ["Accept-Encoding: \(coding)", available(held)]
                    client.send(request("/feed?v=\(wanted)", fields))
                    let answer = try? client.receive()
                    let isExact =
                        (try? answer?.carriesDecoded(versions[wanted], over: held)) == true
                        && answer?.coding == coding
                    if !isExact { failures.withLock { $0.append("\(index) \(round) \(coding)") } }
                }
            }
        }
        #expect(done.allSatisfy { $0.wait(seconds: 300) })
        #expect(failures.withLock { $0 } == [])
    }
}
