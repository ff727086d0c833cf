internal import Dictionaries
internal import Foundation
internal import TestSupport
internal import Testing

/// `dictum decode` on the test vectors, which foreign encoders made, on stores and on HAR files.
@Suite(.timeLimit(.minutes(40))) struct DecodeTests {
    private static let vectors = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Vectors")

    private func file(_ name: String) -> String { Self.vectors.appending(path: name).path }
    private func bytes(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: Self.vectors.appending(path: name)))
    }

    private func decode(_ arguments: String...) throws -> ProcessResult {
        try RunningProcess.run(["decode"] + arguments)
    }

    @Test(arguments: ["whole.dcz", "strong.dcb", "several-frames.dcz"])
    func `a saved delta is decoded over the file that it names`(name: String) throws {
        let result = try decode(file(name), "--dictionary", file("dictionary.json"))
        #expect(result.status == 0, "\(result.errors)")
        let plain = try bytes("plain.json")
        #expect(result.output == plain)
    }

    @Test func `with another dictionary the error names the digest, and how to look for it`() throws {
        let dictionary = try bytes("dictionary.json")
        let digest = Digest(of: dictionary.span)
        let other = try decode(file("whole.dcz"), "--dictionary", file("plain.json"))
        let none = try decode(file("whole.dcz"))
        for result in [other, none] {
            #expect(result.status == 1 && result.output.isEmpty)
            #expect(
                result.errors.contains(digest.hex) && result.errors.contains(":\(digest.base64):"),
                "\(result.errors)")
        }
    }

    @Test(arguments: [
        "truncated-body.dcz", "wrong-checksum.dcz", "truncated-body.dcb", "trailing.dcb",
    ])
    func `nothing is written of a body that is not whole`(name: String) throws {
        let result = try decode(file(name), "--dictionary", file("dictionary.json"))
        #expect(result.status == 1 && result.output.isEmpty)
        #expect(result.errorLines.count == 1 && result.errors.hasPrefix("dictum: "), "\(result.errors)")
    }

    @Test func `the store of a proxy has the dictionary`() throws {
        let store = try FilledStore()
        try store.admit([1, 2])
        let (held, plain) = (FilledStore.body(1).bytes, FilledStore.body(2).bytes)
        let delta = coded(plain, .dcz, over: held)
        let saved = store.path + ".dcz"
        try Data(delta).write(to: URL(filePath: saved))
        let result = try decode(saved, "--store", store.path)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output == plain)
        let missing = try decode(file("whole.dcz"), "--store", store.path)
        #expect(missing.status == 1)
        #expect(missing.errors.contains("does not have the dictionary"))
    }

    @Test func `an entry of a HAR file is decoded, or written as the browser has decoded it`() throws {
        let folder = try TemporaryFolder()
        // Some programs break the lines.
        let coded = Data(try bytes("whole.dcz")).base64EncodedString(options: .lineLength76Characters)
            .replacing("\r\n", with: #"\r\n"#)
        func entry(_ url: String, _ content: String) -> String {
            #"{"startedDateTime":"2026-01-01T00:00:00Z","request":{"method":"GET","url":"\#(url)"},"#
                + #""response":{"status":200,"content":\#(content)}}"#
        }
        let entries = [
            entry("https://a.test/feed", #"{"text":"\#(coded)","encoding":"base64"}"#),
            entry("https://a.test/plain", #"{"text":"{\"a\":1}"}"#), entry("https://a.test/none", "{}"),
        ]
        try folder.write(
            Array(#"{"log":{"entries":[\#(entries.joined(separator: ","))]}}"#.utf8), to: "page.har")
        let har = "\(folder.path)/page.har"
        let delta = try decode(har, "--url", "https://a.test/feed", "--dictionary", file("dictionary.json"))
        let plain = try bytes("plain.json")
        #expect(delta.output == plain, "\(delta.errors)")
        let text = try decode(har, "--url", "https://a.test/plain")
        #expect(text.text == #"{"a":1}"#)
        for url in ["https://a.test/none", "https://a.test/other"] {
            let missing = try decode(har, "--url", url)
            #expect(missing.status == 1)
        }
    }

    @Test func `of several responses of a URL in a HAR file the last one is meant`() throws {
        let folder = try TemporaryFolder()
        let entries =
            ["/feed", "/other", "/feed", "/other"].enumerated().map { number, path in
                #"{"startedDateTime":"2026-01-01T00:00:00Z","request":{"method":"GET","url":"https://a.test\#(path)"},"#
                    + #""response":{"status":200,"content":{"text":"[\#(number)]"}}}"#
            } + [
                // The browser has the body of this one in its cache.
                #"{"startedDateTime":"2026-01-01T00:00:00Z","request":{"method":"GET","url":"https://a.test/feed"},"#
                    + #""response":{"status":304,"content":{}}}"#
            ]
        try folder.write(
            Array(#"{"log":{"entries":[\#(entries.joined(separator: ","))]}}"#.utf8), to: "page.har")
        let result = try decode("\(folder.path)/page.har", "--url", "https://a.test/feed")
        #expect(result.text == "[2]", "\(result.errors)")
    }

    @Test func `a JSON file that is no HAR file is said to be that`() throws {
        let folder = try TemporaryFolder()
        try folder.write(Array("[1]".utf8), to: "first.json")
        let result = try decode("\(folder.path)/first.json", "--url", "http://a.test/")
        #expect(result.status == 1)
        #expect(
            result.errors.contains("first.json is not a HAR file (it is JSON, but no object): "),
            "\(result.errors)")
    }

    @Test(arguments: [ContentCoding.gzip, .zstd])
    func `gzip and zstd are known by their first bytes, however much they have saved`(coding: ContentCoding)
        throws
    {
        let plain = [UInt8](repeating: 0x20, count: 16 << 20)
        let folder = try TemporaryFolder()
        try folder.write(coded(plain, coding), to: "body")
        let result = try decode(folder.file("body"))
        let isWhole = result.output == plain
        #expect(result.status == 0 && isWhole, "\(result.errors)")
    }

    @Test func `a body without a known beginning needs its coding named`() throws {
        let unknown = try decode(file("plain.json"))
        #expect(unknown.errors.contains("--coding br"))
        let folder = try TemporaryFolder()
        try folder.write(coded(bytes("plain.json"), .br), to: "body.br")
        let body = "\(folder.path)/body.br"
        let (plain, decoded) = (try bytes("plain.json"), try decode(body, "--coding", "br"))
        #expect(decoded.output == plain)
        let wrong = try decode(body, "--coding", "lzma")
        #expect(wrong.status == 64)
    }
}
