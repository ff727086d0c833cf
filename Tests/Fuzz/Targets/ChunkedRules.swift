internal import HTTP

/// The rules for chunked bodies: cutting does not change the data, the trailers or the end of the body; a reader made
/// from the grammar alone agrees; and a written body parses to the same data.
enum ChunkedRules {
    private static let limits = MessageLimits(
        chunkExtensionBytes: 16, chunkExtensionBytesTotal: 40, trailerBytes: 64, trailerCount: 4)

    private struct Outcome: Equatable {
        var data: [UInt8] = []
        var trailers: [UInt8] = []
        var end: Int?
        var fault: ParseError?
    }

    static func check(_ bytes: [UInt8]) throws(BrokenRule) {
        let whole = outcome(bytes, cuts: nil)
        for cuts in [Cuts(bytes), .single] {
            try require(outcome(bytes, cuts: cuts) == whole, "a chunked body cut in pieces reads the same")
        }
        guard let end = whole.end else { return }
        let plain = PlainChunks.read(Array(bytes[..<end]))
        try require(plain == whole.data, "a body that is taken is one by the grammar, with the same data")
        try require(
            outcome(Array(bytes[..<end]), cuts: nil) == whole, "what follows the body has no part in it")
        try checkWriter(whole)
    }

    private static func checkWriter(_ whole: Outcome) throws(BrokenRule) {
        var written: [UInt8] = []
        if !whole.data.isEmpty {
            ChunkedWriter.writeSizeLine(whole.data.count, into: &written)
            written += whole.data
            ChunkedWriter.writeDataEnd(into: &written)
        }
        written += Array("0\r\n".utf8) + whole.trailers + Array("\r\n".utf8)
        var again = outcome(written, cuts: nil)
        // Values get their blank, which may go beyond the limit.
        guard again.fault != .trailersTooLarge else { return }
        try require(again.end == written.count, "what is written again ends where it ends")
        again.end = whole.end
        try require(again == whole, "what is written again reads as the same")
    }

    /// If a body turns out invalid, the cuts decide how much data comes before the error, so that data is not compared.
    private static func outcome(_ bytes: [UInt8], cuts: Cuts?) -> Outcome {
        var parser = ChunkedParser(limits: limits)
        var outcome = Outcome()
        var cuts = cuts
        var start = 0
        while start < bytes.count, !parser.isComplete {
            let end = cuts?.next(after: start, count: bytes.count) ?? bytes.count
            do throws(ParseError) {
                let used = try parser.parse(bytes.span.extracting(start..<end)) { piece in
                    for index in piece.indices { outcome.data.append(piece[index]) }
                }
                if parser.isComplete { outcome.end = start + used }
            } catch {
                return Outcome(fault: error)
            }
            start = end
        }
        parser.trailers.write(into: &outcome.trailers)
        return outcome
    }
}
