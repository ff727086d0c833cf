internal import HTTP

/// The rules for chunked bodies: cutting changes neither the data nor the trailers, nor where the body ends.
enum ChunkedRules {
    private static let limits = MessageLimits()

    private struct Outcome: Equatable {
        var data: [UInt8] = []
        var trailers: [UInt8] = []
        var end: Int?
        var fault: ParseError?
    }

    static func check(_ bytes: [UInt8]) {
        var whole = outcome(bytes, cuts: nil)
        var cut = outcome(bytes, cuts: Cuts(bytes))
        if whole.fault != nil {
            // Of a body that is lost in the end, pieces tell more or less of the data before.
            whole.data = []
            cut.data = []
        }
        require(cut == whole, "a chunked body cut in pieces reads the same")
        guard whole.end != nil else { return }
        var written: [UInt8] = []
        if !whole.data.isEmpty {
            ChunkedWriter.writeSizeLine(whole.data.count, into: &written)
            written += whole.data + [13, 10]
        }
        ChunkedWriter.writeEnd(trailers: Headers(), into: &written)
        require(outcome(written, cuts: nil).data == whole.data, "what is written again has the same data")
    }

    private static func outcome(_ bytes: [UInt8], cuts: Cuts?) -> Outcome {
        var parser = ChunkedParser(limits: limits)
        var outcome = Outcome()
        var cuts = cuts
        var start = 0
        while start < bytes.count, !parser.isComplete {
            let end = cuts?.next(after: start, count: bytes.count) ?? bytes.count
            do throws(ParseError) {
                let used = try parser.parse(bytes.span.extracting(start..<end)) { outcome.data.append($0) }
                if parser.isComplete { outcome.end = start + used }
            } catch {
                outcome.fault = error
                return outcome
            }
            start = end
        }
        parser.trailers.write(into: &outcome.trailers)
        return outcome
    }
}
