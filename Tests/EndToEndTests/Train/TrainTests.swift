internal import Dictionaries
internal import Foundation
internal import Storage
internal import TestSupport
internal import Testing

@testable import dictum

/// `dictum train`: a dictionary of what many responses have in common, judged by others.
@Suite(.timeLimit(.minutes(20))) struct TrainTests {
    /// The output with `--json`.
    struct Report: Decodable {
        struct Candidate: Decodable {
            let method: String
            let bytes: Int
            let dcz: Int
            let dcb: Int
            let downloadBytes: Int
            let paysAfterResponses: Int?
            let balance: Int
        }

        struct Verdict: Decodable {
            let trainedOn: Int
            let heldOut: Int
            let plainBytes: Int
            let candidates: [Candidate]
            let best: Candidate?
        }

        let match: String
        let verdict: Verdict
        let leftOut: [String: Int]
        let sha256: String?
        let file: String?
    }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// One of many responses of one kind; `secret` stands in all of one user.
    private static func item(_ number: Int, secret: String = "") -> [UInt8] {
        let noise = Digest(of: "\(number)".utf8.span).hex
        return Array(
            #"""
            {"id":\#(number),"name":"item \#(noise.prefix(12))","price":{"amount":\#(number * 37 % 1000),"currency":"EUR"},
            "links":{"self":"https://api.test/items/\#(number)","reviews":"https://api.test/items/\#(number)/reviews"},
            "availability":{"warehouse":"central","isOnStock":true,"deliveryDays":3},"token":"\#(noise)\#(secret)"}
            """#.utf8)
    }

    private func train(_ arguments: String..., others: [String] = []) throws -> Report {
        let result = try RunningProcess.run(["train", "--json"] + arguments + others, in: folder.path)
        try #require(result.status == 0, "\(result.errors)")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Report.self, from: Data(result.output))
    }

    private func writeItems(_ count: Int, to name: String = "items") throws {
        try FileManager.default.createDirectory(
            atPath: "\(folder.path)/\(name)", withIntermediateDirectories: true)
        for number in 1...count { try folder.write(Self.item(number), to: "\(name)/\(number).json") }
    }

    private func archive(_ entries: [ArchiveEntry]) throws { try ArchiveEntry.write(entries, to: folder) }

    private static func entry(_ number: Int) -> ArchiveEntry {
        var entry = ArchiveEntry(url: "https://api.test/items/\(number)", second: number % 3600)
        entry.body = item(number)
        return entry
    }

    // MARK: The dictionary

    @Test
    func `it writes the best dictionary under its digest, and its figures are those of held-out responses`()
        throws
    {
        try writeItems(120)
        let report = try train("items")
        let best = try #require(report.verdict.best)
        let file = try #require(report.file)
        let dictionary = Body(try #require(folder.read(file)))
        #expect(file == "./\(dictionary.digest.hex).dict" && report.sha256 == dictionary.digest.hex)
        #expect(dictionary.count == best.bytes)
        #expect((report.verdict.trainedOn, report.verdict.heldOut) == (60, 60))
        #expect(best.dcb * 4 < report.verdict.plainBytes * 3, "\(best) \(report.verdict.plainBytes)")
        #expect(report.verdict.candidates.contains { $0.method == "samples" })
        #expect(report.verdict.candidates.contains { $0.method == "trained" })
        let saved = report.verdict.plainBytes - best.dcb
        #expect(best.balance == 100 * saved - best.downloadBytes)
        #expect(best.paysAfterResponses == (best.downloadBytes + saved - 1) / saved)
        let known = Set(
            (1...120).map { Self.item($0) }.filter { dictionary.bytes.contains($0) }.map {
                Digest(of: $0.span)
            })
        #expect(known.count <= 60, "no held-out response is in it")
    }

    @Test(arguments: [40, 100_000])
    func `it takes the dictionary that saves a client most in so many responses`(responses: Int) throws {
        try writeItems(200)
        let verdict = try train("items", "--responses", "\(responses)").verdict
        let best = try #require(verdict.best)
        #expect(best.balance == verdict.candidates.map(\.balance).max())
        #expect(best.balance == responses * (verdict.plainBytes - best.dcb) - best.downloadBytes)
        if responses == 100_000 { #expect(best.dcb == verdict.candidates.map(\.dcb).min()) }
    }

    @Test func `responses of which nothing is common give no file`() throws {
        try FileManager.default.createDirectory(
            atPath: "\(folder.path)/noise", withIntermediateDirectories: true)
        for number in 0..<40 {
            let noise = (0..<20).map { Digest(of: "\(number) \($0)".utf8.span).base64 }.joined()
            try folder.write(Array(noise.utf8), to: "noise/\(number).json")
        }
        let report = try train("noise")
        #expect(report.verdict.best == nil && report.file == nil)
        #expect(folder.names() == ["noise"])
    }

    @Test func `if no response can be trained on, it says so`() throws {
        try FileManager.default.createDirectory(
            atPath: "\(folder.path)/large", withIntermediateDirectories: true)
        for number in 1...8 {
            let spaces = [UInt8](repeating: 0x20, count: DictionaryTraining.trainingBytesMax)
            try folder.write(Array("\(number)".utf8) + spaces, to: "large/\(number).json")
        }
        let result = try RunningProcess.run(["train", "large"], in: folder.path)
        #expect(result.status == 0, "\(result.errors)")
        #expect(
            result.text.contains("trained on 0 responses")
                && result.text.contains("no dictionary could be made"),
            "\(result.text)")
    }

    @Test func `its content has no header of libzstd's format`() throws {
        let bodies = (1...200).map { Body(Self.item($0)) }
        // The second is not cut to its length, which would take a header away, too.
        for bytesMax in [16 << 10, 1 << 20] {
            let content = try #require(ZstdTraining.content(of: bodies, bytesMax: bytesMax))
            #expect(content.count <= bytesMax && !content.starts(with: [0x37, 0xa4, 0x30, 0xec]))
        }
        #expect(ZstdTraining.content(of: Array(bodies.prefix(1)), bytesMax: 16 << 10) == nil, "too few")
        #expect(ZstdTraining.content(of: [], bytesMax: 16 << 10) == nil)
    }

    // MARK: Samples

    @Test func `a response whose request had a credential is never a sample, although it says public`() throws
    {
        let secrets = (1...42).map { number in
            var entry = Self.entry(1000 + number)
            entry.body = Self.item(1000 + number, secret: " of a user")
            switch number % 6 {
            case 0: entry.requestFields = ["Authorization": "Bearer x"]
            case 1: entry.requestFields = ["Cookie": "sid=1"]
            case 2: entry.requestFields = ["X-Api-Key": "k"]
            case 3: entry.url += "?access_token=k"
            case 4: entry.fields = ["Cache-Control": "private, max-age=600"]
            default: entry.fields["Set-Cookie"] = "sid=1"
            }
            return entry
        }
        try archive((1...40).map(Self.entry) + secrets)
        let report = try train("session.har")
        #expect(report.leftOut == ["credentials": 28, "personal": 14])
        #expect(report.verdict.trainedOn + report.verdict.heldOut == 40)
        let file = try #require(report.file.flatMap(folder.read))
        #expect(!String(decoding: file, as: UTF8.self).contains("of a user"))
    }

    @Test(arguments: ["Cookie", "Accept-Encoding, authorization", "X-Api-Key", "*"])
    func `a response whose Vary names a credential is no sample, although the HAR file has none`(vary: String)
        throws
    {
        let secrets = (1...20).map { number in
            var entry = Self.entry(1000 + number)
            entry.body = Self.item(1000 + number, secret: " of a user")
            entry.fields["Vary"] = vary
            return entry
        }
        try archive((1...20).map(Self.entry) + secrets)
        let report = try train("session.har")
        #expect(report.leftOut == ["personal": 20])
        let file = try #require(report.file.flatMap(folder.read))
        #expect(!String(decoding: file, as: UTF8.self).contains("of a user"))
    }

    @Test func `a string that fewer resources have than the operator asks for is cut`() throws {
        let secret = { (number: Int) in String(Digest(of: "secret \(number / 2)".utf8.span).hex.prefix(24)) }
        try FileManager.default.createDirectory(
            atPath: "\(folder.path)/items", withIntermediateDirectories: true)
        for number in 0..<60 {
            try folder.write(Self.item(number, secret: secret(number)), to: "items/\(number).json")
        }
        let leaks = { (arguments: [String]) in
            let report = try train("items", "--responses", "100000", others: arguments)
            let file = try #require(report.file.flatMap(folder.read))
            let strings = Set((0...file.count - 16).map { Array(file[$0..<$0 + 16]) })
            return (0..<30).filter { strings.contains(Array(secret(2 * $0).utf8.prefix(16))) }.count
        }
        #expect(try leaks(["--common", "3"]) == 0)
        #expect(try leaks([]) > 0, "the operator vouches for files")
    }

    @Test func `a body that several URLs have is one sample, so that no half knows the other`() throws {
        let same = (1...20).map { number in
            var entry = Self.entry(number)
            entry.body = Self.item(0)
            return entry
        }
        try archive(same + (101...120).map(Self.entry))
        let verdict = try train("session.har").verdict
        #expect(verdict.trainedOn + verdict.heldOut == 21)
    }

    @Test(arguments: [["-H", "Authorization: Bearer x"], ["-H", "X-Api-Key: k"], ["--cookie", "sid=1"]])
    func `what was fetched with a credential is never a sample`(credential: [String]) throws {
        let origin = try Origin(
            wire("HTTP/1.1 200 OK", "Cache-Control: public, max-age=60", body: Self.item(1)))
        let url = "http://127.0.0.1:\(origin.port)/items/1"
        let result = try RunningProcess.run(["train", url] + credential, in: folder.path)
        #expect(result.status == 1)
        #expect(origin.requests.count == 1)
        #expect(result.errors.contains("1 response whose request had a credential"))
    }

    @Test func `a later request with a credential counts, too`() throws {
        var entries = (1...20).map(Self.entry)
        // The same URL, first without a credential, then with one.
        var second = Self.entry(1)
        second.second = 3000
        second.requestFields = ["Cookie": "sid=1"]
        second.body = Self.item(1, secret: " of a user")
        entries.append(second)
        try archive(entries)
        #expect(try train("session.har").leftOut == ["credentials": 1])
    }

    @Test func `responses of several routes need a choice`() throws {
        var others = (1...20).map(Self.entry)
        for index in others.indices {
            others[index].url = "https://api.test/users/\(index)/page"
            others[index].body = Self.item(500 + index)
        }
        try archive((1...20).map(Self.entry) + others)
        let result = try RunningProcess.run(["train", "session.har"], in: folder.path)
        #expect(result.status == 1)
        #expect(
            result.errors.contains("/items/:id (20)") && result.errors.contains("--match"), "\(result.errors)"
        )
        let report = try train("session.har", "--match", "/items/*")
        #expect(report.match == "/items/*" && report.leftOut == ["other_path": 20])
    }

    @Test func `responses of several hosts need a choice, although their paths are of one route`() throws {
        let hosts = [("api.test", 20), ("shop.test:8443", 12), ("api.test:8443", 1)]
        let entries = hosts.enumerated().flatMap { place, host in
            (1...host.1).map { number in
                var entry = Self.entry(100 * place + number)
                entry.url = "https://\(host.0)/items/\(number)"
                return entry
            }
        }
        try archive(entries)
        for arguments in [[], ["--match", "/items/*"]] {
            let result = try RunningProcess.run(["train", "session.har"] + arguments, in: folder.path)
            #expect(result.status == 1)
            #expect(
                result.errors.contains("api.test (20), ") && result.errors.contains("--host"),
                "\(result.errors)")
        }
        for (host, count) in [("SHOP.test", 12), ("api.test", 20)] {
            let report = try train("session.har", "--host", host)
            #expect(report.match == "/items/:id" && report.leftOut == ["other_host": 33 - count])
            #expect(report.verdict.trainedOn + report.verdict.heldOut == count)
        }
    }

    @Test func `of a store only what three clients got without a credential is a sample`() throws {
        let origin = try Origin { request, connection in
            let number = Int(request.target.dropFirst("/items/".count)) ?? 0
            connection.send(
                wire(
                    "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: public, max-age=60",
                    body: Self.item(number)))
        }
        let proxy = try ServedProxy(origin, in: folder, "routes: [{match: \"/items/:id\"}]")
        for number in 1...12 { try proxy.prove("/items/\(number)") }
        for number in 101...105 { _ = try proxy.curl("/items/\(number)") }
        // The responses say `public`, and that may be a mistake.
        try proxy.prove("/items/201", fields: ["Authorization: Bearer x"])
        try proxy.prove("/items/202", fields: ["Cookie: sid=1"])
        _ = try proxy.process.terminate()
        let report = try train("--store", "store.sqlite")
        #expect(report.verdict.trainedOn + report.verdict.heldOut == 12)
        #expect(report.leftOut == ["unproven": 7])
    }

    /// What `estimate --json` tells of first responses.
    private struct Estimate: Decodable {
        struct First: Decodable {
            let origin: String
            let match: String
            let heldOut: Int
            let plainBytes: Int
            let builtBytes: Int?
        }

        let firstResponses: [First]
    }

    private func firstResponses() throws -> [Estimate.First] {
        let result = try RunningProcess.run(
            ["estimate", "--json"] + Estimating.quick + ["session.har"], in: folder.path)
        try #require(result.status == 0, "\(result.errors)")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Estimate.self, from: Data(result.output)).firstResponses
    }

    @Test func `the first responses of two hosts are two routes, although their paths are alike`() throws {
        let others = (25...48).map { number in
            var entry = Self.entry(number)
            entry.url = "https://other.test/items/\(number)"
            return entry
        }
        try archive((1...24).map(Self.entry) + others)
        let first = try firstResponses()
        #expect(first.map(\.origin).sorted().joined(separator: " ") == "https://api.test https://other.test")
        #expect(first.allSatisfy { $0.match == "/items/:id" && $0.heldOut == 12 }, "\(first)")
    }

    @Test func `an estimate shows the first responses of a route, with a built dictionary and without`()
        throws
    {
        try archive((1...24).map(Self.entry))
        let first = try firstResponses()
        try #require(first.count == 1)
        #expect(first[0].match == "/items/:id" && first[0].heldOut == 12)
        #expect(try #require(first[0].builtBytes) < first[0].plainBytes)
        let text = try RunningProcess.run(["estimate"] + Estimating.quick + ["session.har"], in: folder.path)
            .text
        #expect(
            text.contains("First responses") && text.contains("/items/:id  \(first[0].plainBytes)"), "\(text)"
        )
        #expect(text.hasSuffix("\n") && !text.hasSuffix("\n\n"), "a report has one end: \(text.suffix(80))")
    }

    @Test(arguments: [
        ([], "expected a source"), (["x", "--match", "/(a)"], "--match"),
        (["x", "--responses", "0"], "--responses"), (["x", "--host", "https://a"], "--host"),
        (["x", "--common", "0"], "--common"), (["x", "--common", "1001"], "--common"),
        (["--config", "a", "--store", "b"], "expected either --config FILE or --store PATH"),
    ])
    func `wrong usage says what is expected`(arguments: [String], text: String) throws {
        let result = try RunningProcess.run(["train"] + arguments, in: folder.path)
        #expect(result.status == 64 && result.errors.contains(text), "\(result.errors)")
    }

    @Test func `a folder that cannot take the dictionary is said before anything is fetched`() throws {
        let origin = try Origin(
            wire("HTTP/1.1 200 OK", "Cache-Control: public, max-age=60", body: Self.item(1)))
        for (output, why) in [("missing", "No such file or directory"), ("a.txt", "Not a directory")] {
            try folder.write([], to: "a.txt")
            let result = try RunningProcess.run(
                ["train", "\(origin.url)/items", "-o", output], in: folder.path)
            #expect(result.status == 64, "\(result.errors)")
            #expect(
                result.errors.contains("--output: cannot write to the folder \(output): \(why)"),
                "\(result.errors)")
        }
        #expect(origin.requests.isEmpty)
    }

    @Test func `of a dictionary that cannot be written whole nothing stays`() throws {
        try writeItems(40)
        // No file may have more than 1024 bytes.
        let result = try RunningProcess.run(
            [
                "-c", #"trap "" XFSZ; ulimit -f 1; "$0" train items | cat"#, RunningProcess.dictum,
            ], of: "/bin/bash", in: folder.path)
        #expect(result.errors.contains(".dict.part: File too large"), "\(result.errors)")
        #expect(folder.names() == ["items"])
    }

    @Test func `too few responses are an error that says how many there are`() throws {
        try writeItems(7)
        let result = try RunningProcess.run(["train", "items"], in: folder.path)
        #expect(result.status == 1 && result.errors.contains("7 different responses"), "\(result.errors)")
    }
}
