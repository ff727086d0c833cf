/// Finds the end of a message's body by its framing (RFC 9112 section 6).
///
/// Pure: the caller reads, the decoder counts. Every message has one, so it is small: state that only a chunked
/// body needs is kept elsewhere.
struct BodyDecoder {
    private enum State {
        case length(UInt64)
        case chunked(Chunks)
        case untilClose
        case complete
    }

    /// The parser of a chunked body, shared by the copies of a decoder; only the last copy goes on.
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

    /// The fields behind a complete chunked body, else empty.
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

    /// True if the end of the connection completes the body instead of truncating it.
    var endsWithConnection: Bool {
        if case .untilClose = state { true } else { isComplete }
    }

    /// Reads the body from `offset` on, passes its data to `onData`, and returns the index where it stopped.
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
            // A copy, because `onData` may call back while the parser is at work.
            var parser = chunks.parser
            defer { chunks.parser = parser }
            return try parser.parse(bytes, from: offset, onData: onData)
        }
    }
}
