internal import Dictionaries
internal import Foundation
internal import Storage
internal import TestSupport
internal import Testing

/// The errors of `dictum store`: one line and the exit code.
@Suite(.timeLimit(.minutes(40))) struct StoreRefusalTests {
    @Test(arguments: [
        ["list"], ["list", "--config", "a", "--store", "b"], ["show", "--store", "b"],
        ["show", "xyz!", "--store", "b"], ["show", "abc", "--store", "b"], ["rm", "--store", "b"],
        ["rm", "abcd", "--all", "--store", "b"], ["prune", "--older-than", "7", "--store", "b"],
        ["prune", "--unused-routes", "--store", "b"], ["prune", "--shared", "--config", "b"],
        ["list", "--shared", "--store", "b"],
    ])
    func `wrong usage is 64`(_ arguments: [String]) throws {
        let result = try RunningProcess.run(["store"] + arguments)
        #expect(result.status == 64)
        #expect(result.output.isEmpty)
    }

    @Test(arguments: [["show", "cad"], ["export", "xyzw"], ["rm", "cafe", "cad"]])
    func `too little of a digest is told with what is enough`(_ arguments: [String]) throws {
        let result = try RunningProcess.run(["store"] + arguments + ["--store", "b"])
        #expect(result.status == 64)
        #expect(
            result.errors.contains(
                "expected the first hexadecimal digits of a digest, at least 4, or the whole digest"))
        let help = try RunningProcess.run(["store", arguments[0], "--help"])
        let words = help.text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(words.contains("first hexadecimal digits, at least four, or"))
    }

    @Test func `what rm asks for is what it takes: a path alone, a host alone, or both`() throws {
        let refused = try RunningProcess.run(["store", "rm", "--store", "b"])
        #expect(
            refused.errors.contains("expected digests, or conditions (--host, --path, --route), or --all"))
        let choices = [
            ["--path", "/feed"], ["--host", "api.test"],
            ["--path", "/feed", "--host", "api.test"],
        ]
        for choice in choices {
            let store = try FilledStore()
            try store.admit([1])
            let result = try RunningProcess.run(["store", "rm", "--store", store.path] + choice)
            #expect(result.status == 0 && result.text.contains("1 version removed"))
        }
    }

    @Test func `a wrong configuration is 78, with its place`() throws {
        let store = try FilledStore()
        let file = try store.configuration("rooutes: []")
        let result = try RunningProcess.run(["store", "list", "--config", file])
        #expect(result.status == 78)
        #expect(result.errorLines.first?.hasPrefix("\(file):3:1: ") == true)
    }

    @Test func `a store that is not there is not made`() throws {
        let store = try FilledStore()
        for command in [["list"], ["verify"], ["prune"], ["rm", "--all"], ["export", "abcd"]] {
            let result = try RunningProcess.run(["store"] + command + ["--store", store.path])
            #expect(result.status == 1)
            #expect(result.errorLines.count == 1 && result.errors.contains("no store at"))
        }
        #expect(store.folder.names().isEmpty)
        let memory = try RunningProcess.run(["store", "list", "--store", ":memory:"])
        #expect(memory.status == 1 && memory.errors.contains("only its proxy can read"))
    }

    @Test func `the database of another program is left alone`() throws {
        let store = try FilledStore()
        try store.sqlite("CREATE TABLE other (a); INSERT INTO other VALUES (1)")
        let before = store.folder.read("store.sqlite")
        for command in [["list"], ["prune"], ["rm", "--all"], ["verify", "--repair"]] {
            let result = try RunningProcess.run(["store"] + command + ["--store", store.path])
            #expect(result.status == 1)
            #expect(result.errorLines.count == 1 && result.errors.contains("another program"))
        }
        #expect(store.folder.read("store.sqlite") == before)
        #expect(store.folder.names() == ["store.sqlite"])
    }

    @Test func `another schema is refused by the commands and by the proxy, and left alone`() throws {
        let store = try FilledStore()
        try store.admit([1])
        try store.sqlite("PRAGMA user_version = 99")
        let list = try store.run("list")
        let serve = try RunningProcess.run(
            ["serve", "--upstream", "http://127.0.0.1:9", "--listen", "127.0.0.1:0", "--store", store.path])
        for result in [list, serve] {
            #expect(result.status == 1)
            #expect(result.errorLines.count == 1)
            #expect(
                result.errors.contains("has schema 99")
                    && result.errors.contains("run the dictum that made it"))
        }
        #expect(try store.sqlite("PRAGMA user_version; SELECT count(*) FROM version") == "99\n1")
    }

    @Test func `a damaged store is left where it is`() throws {
        let store = try FilledStore()
        try store.admit([1])
        let names = store.folder.names()
        try store.folder.write(Noise.bytes(40_960, seed: 1), to: "store.sqlite")
        for command in [["list"], ["verify", "--repair"]] {
            let result = try RunningProcess.run(["store"] + command + ["--store", store.path])
            #expect(result.status == 1)
            #expect(result.errorLines.count == 1 && result.errors.contains("is damaged"))
        }
        #expect(store.folder.names() == names)
    }

    @Test func `a digest that nothing has is an error`() throws {
        let store = try FilledStore()
        try store.admit([1])
        for command in [["show", "0000"], ["export", "0000"], ["rm", "0000"]] {
            let result = try RunningProcess.run(["store"] + command + ["--store", store.path])
            #expect(result.status == 1)
            #expect(result.errorLines.count == 1 && result.errors.contains("no version"))
        }
        #expect(try store.run("rm", "--path", "/none").status == 1)
    }

    @Test func `the beginning of several digests lists them, and removes none`() throws {
        let store = try FilledStore()
        // Two bodies whose digests begin alike: found by trying, the same on every machine.
        var seen: [Substring: Int] = [:]
        var pair: (Int, Int)?
        for number in 0..<2000 where pair == nil {
            let prefix = FilledStore.body(number).digest.hex.prefix(4)
            pair = seen[prefix].map { ($0, number) }
            seen[prefix] = number
        }
        let (first, second) = try #require(pair)
        try store.admit([first, second])
        let digests = [first, second].map { FilledStore.body($0).digest.hex }
        for command in ["show", "export", "rm"] {
            let result = try store.run(command, String(digests[0].prefix(4)))
            #expect(result.status == 1)
            #expect(result.errorLines.count == 1)
            #expect(digests.allSatisfy { result.errors.contains($0) })
        }
        #expect(try store.sqlite("SELECT count(*) FROM version") == "2")
        #expect(try store.run("rm", digests[0]).status == 0)
        #expect(try store.sqlite("SELECT count(*) FROM version") == "1")
    }

    @Test func `a path of several hosts is not removed without a choice`() throws {
        let store = try FilledStore()
        try store.admit([1])
        try store.admit([2], authority: "other.test")
        let result = try store.run("rm", "--path", "/feed")
        #expect(result.status == 1)
        #expect(result.errors.contains("api.test, other.test"))
        #expect(try store.run("rm", "--path", "/feed", "--host", "Other.test").status == 0)
        #expect(try store.sqlite("SELECT authority FROM chain") == "api.test")
    }
}
