/// A message's body as it comes in, by its framing (RFC 9112 section 6).
///
/// Pure: the caller reads, this finds the end.
///
/// Small, since every message has one: what only a chunked body needs stands elsewhere.
struct BodyDecoder {
    private enum State {
        case length(UInt64)
        case chunked(Chunks)
        case untilClose
        case complete
    }

    /// Shared by the copies of a decoder, of which only the last goes on.
    private final class Chunks {
        var parser: ChunkedParser

        init(_ parser: ChunkedParser) { self.parser = parser }
    }

    private var state: State

    init(_ framing: BodyFraming, limits: MessageLimits) {
        switch framing {
        case .none, .length(0): state = .complete
        case .length(let count): state = .length(count)
        case .chunked: state = .chunked(Chunks(ChunkedParser(limits: limits)))
        case .untilClose: state = .untilClose
        }
    }

    /// The fields behind a chunked body that is complete; empty otherwise.
    var trailers: Headers {
        guard case .chunked(let chunks) = state else { return Headers() }
        return chunks.parser.trailers
    }

    var isComplete: Bool {
        switch state {
        case .complete: true
        case .chunked(let chunks): chunks.parser.isComplete
        case .length, .untilClose: false
        }
    }

    /// Whether the end of the connection is the end of the body, and not its truncation.
    var endsWithConnection: Bool {
        if case .untilClose = state { true } else { isComplete }
    }

    /// Takes what belongs to the body from `offset` on, hands its data to `onData`, returns where it stopped.
    mutating func decode(
        _ bytes: Span<UInt8>, from offset: Int, onData: (Span<UInt8>) -> Void
    ) throws(ParseError) -> Int {
        switch state {
        case .complete:
            return offset
        case .untilClose:
            onData(bytes.extracting(offset..<bytes.count))
            return bytes.count
        case .length(let remaining):
            let count = Int(min(remaining, UInt64(bytes.count - offset)))
            state = remaining == UInt64(count) ? .complete : .length(remaining - UInt64(count))
            if count > 0 { onData(bytes.extracting(offset..<offset + count)) }
            return offset + count
        case .chunked(let chunks):
            // A copy: what is done with the data must not meet a parser at work.
            var parser = chunks.parser
            defer { chunks.parser = parser }
            return try parser.parse(bytes, from: offset, onData: onData)
        }
    }
}
