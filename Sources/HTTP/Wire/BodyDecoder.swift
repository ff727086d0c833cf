/// A message's body as it comes in, by its framing (RFC 9112 section 6).
///
/// Pure: the caller reads, this finds the end.
struct BodyDecoder: Sendable {
    private enum State {
        case length(UInt64)
        case chunked(ChunkedParser)
        case untilClose
        case complete
    }

    private var state: State
    /// The fields behind a chunked body; empty otherwise.
    private(set) var trailers = Headers()

    init(_ framing: BodyFraming, limits: MessageLimits) {
        switch framing {
        case .none, .length(0): state = .complete
        case .length(let count): state = .length(count)
        case .chunked: state = .chunked(ChunkedParser(limits: limits))
        case .untilClose: state = .untilClose
        }
    }

    var isComplete: Bool {
        if case .complete = state { true } else { false }
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
        case .chunked(var parser):
            let end = try parser.parse(bytes, from: offset, onData: onData)
            if parser.isComplete {
                trailers = parser.trailers
                state = .complete
            } else {
                state = .chunked(parser)
            }
            return end
        }
    }
}
