internal import TestSupport
internal import Testing

/// Whole histories, with every delta in the hands of the codings' own commands.
@Suite(.timeLimit(.minutes(40))) struct HistoryTests {
    @Test(arguments: [850, 40])
    func `every version decodes over the one before it, as dcz by zstd and as dcb by brotli`(items: Int)
        throws
    {
        let versions = (0..<12).map { Feed.bytes(version: $0, items: items) }
        let folder = try TemporaryFolder()
        let origin = try Origin { request, connection in
            let number = request.target.split(separator: "=").last.flatMap { Int($0) } ?? 0
            connection.send(
                wire(
                    "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: public, max-age=60",
                    body: versions[number]))
        }
        let proxy = try ServedProxy(origin, in: folder)
        #expect(try proxy.curl("/feed?v=0").carries(versions[0]))
        for number in 1..<versions.count {
            try folder.write(versions[number - 1], to: "old")
            // A client without a dictionary is offered the version, which is then offered to all.
            #expect(try proxy.curl("/feed?v=\(number)").carries(versions[number]))
            for coding in ["dcz", "dcb"] {
                let answer = try proxy.curl("/feed?v=\(number)", coding, over: "old")
                #expect(answer.head["Content-Encoding"] == coding)
                #expect(answer.head["Use-As-Dictionary"] == #"match="/feed""#)
                #expect(answer.body.count * 20 < versions[number].count)
                let isExact = try decode(answer.body, coding, in: folder) == versions[number]
                #expect(isExact, "version \(number) as \(coding)")
            }
        }
    }

    /// Decodes a body over the file `old` with the coding's command-line program.
    private func decode(_ body: [UInt8], _ coding: String, in folder: TemporaryFolder) throws -> [UInt8] {
        // RFC 9842: dcz begins with a skippable frame (section 5), and dcb with a header of 36 bytes (section 4).
        try folder.write(coding == "dcz" ? body : Array(body.dropFirst(36)), to: "delta")
        let words =
            coding == "dcz"
            ? ["zstd", "-dcq", "--long=23", "-D", "old", "delta"] : ["brotli", "-dc", "-D", "old", "delta"]
        let result = try RunningProcess.run(words, of: "/usr/bin/env", in: folder.path)
        try #require(result.status == 0, "\(result.errors)")
        return result.output
    }
}
