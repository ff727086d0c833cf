internal import Dictionaries
internal import Foundation
internal import Redis
internal import Storage
internal import Testing

@testable import Proxy

/// Tests the settings whose changes do not take effect on a reload.
@Suite struct ReloadEffectTests {
    @Test func `a change of any setting that needs a restart is named`() throws {
        let former = try configuration("")
        var new = former
        new.listeners[0].isMultipath = true
        new.store.maxSize += 1
        new.store.maxChains += 1
        new.store.writeRate += 1
        new.store.keyFile = "other.key"
        new.store.privateMaxSize = 1 << 20
        new.store.shared = RedisSettings(address: .unix(path: "/run/redis.sock"))
        new.memory.total = 1 << 30
        for budget in Budget.allCases { new.memory[budget] = 0.01 }
        new.compression.verify = .always
        new.log.format = .json
        new.log.access.file = "access.log"
        let settings = Settings.all
        #expect(settings.changes(.atNextStart, from: former, to: new) == settings.keys(.atNextStart))
        #expect(settings.changes(.atNextStart, from: former, to: former) == [])
        #expect(settings.changes(.refused, from: former, to: new) == [])
        new.store.path = "other.sqlite"
        #expect(settings.changes(.refused, from: former, to: new) == ["store.path"])
        #expect(settings.keys(.refused) == ["store.path"])
    }

    @Test func `only listeners that stay can need a restart`() throws {
        let former = try configuration("listeners: [{address: a:1}, {address: a:2}]")
        let moved = try configuration("listeners: [{address: a:3, mptcp: on}, {address: a:2}]")
        let changed = try configuration("listeners: [{address: a:2, mptcp: on}, {address: a:1}]")
        #expect(Settings.all.changes(.atNextStart, from: former, to: moved) == [])
        #expect(Settings.all.changes(.atNextStart, from: former, to: changed) == ["listeners.mptcp"])
    }

    @Test(arguments: ["deploy/OPERATE.md", "Sources/Proxy/Proxy.docc/Configuration.md"])
    func `the documents list the settings that need a restart`(document: String) throws {
        let root = URL(filePath: #filePath).appending(path: "../../../..")
        let text = try String(contentsOf: root.appending(path: document).standardized, encoding: .utf8)
        let rows = text.split(separator: "\n").filter { $0.hasPrefix("| `") && $0.contains(".") }
        var listed: [ReloadEffect: Set<String>] = [:]
        for row in rows {
            let cells = row.split(separator: "|")
            let names = cells[0].matches(of: /`([a-z]+\.[a-z_.]+)`/).map { String($0.1) }
            let sections = names.map { String($0.prefix { $0 != "." }) }
            guard sections.allSatisfy(Settings.all.map(\.key).contains) else { continue }
            listed[cells[1].contains("refused") ? .refused : .atNextStart, default: []].formUnion(names)
        }
        #expect(listed[.refused] == Set(Settings.all.keys(.refused)))
        #expect(listed[.atNextStart] == Set(Settings.all.keys(.atNextStart)))
    }
}
