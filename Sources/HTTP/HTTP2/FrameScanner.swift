/// A frame's head (RFC 9113 section 4.1).
struct HTTP2Frame: Equatable, Sendable {
    /// The types of frames that a connection tells apart.
    enum Kind: UInt8 {
        case data, headers, priority, reset
        case goAway = 7
        case continuation = 9
        /// RFC 9218 section 7.1.
        case priorityUpdate = 16
        case other = 255
    }

    static let headBytes = 9
    /// The bytes of a stream's number in a payload.
    static let streamBytes = 4

    var kind: Kind
    var stream: Int32
    var length: Int
    var endsStream: Bool
    /// The error code of a RST_STREAM that was sent; 0 for other frames.
    var error: UInt32 = 0
    /// The stream that a PRIORITY frame names; 0 for other frames.
    var dependency: Int32 = 0

    init(type: UInt8, flags: UInt8, stream: Int32, length: Int) {
        kind = Kind(rawValue: type) ?? .other
        self.stream = stream
        self.length = length
        // The flag has this meaning in two types only.
        endsStream = flags & 1 != 0 && (kind == .data || kind == .headers)
    }
}

/// Finds the heads of frames in the bytes of a client, so that each frame is judged before it is processed.
///
/// Pure. nghttp2 tells nothing of frames that it passes over.
struct FrameScanner: Sendable {
    /// The bytes before the next head: first the preface, then the payload of each frame.
    private var skipped = HTTP2Preface.count
    private var head = InlineArray<13, UInt8>(repeating: 0)
    private var headCount = 0
    private var headNeeded = HTTP2Frame.headBytes

    /// The bytes behind the head of a PRIORITY frame that name a stream.
    private static let dependencyBytes = 4

    /// Returns the end of the part of the input that may be processed next, and the frame whose head it completes.
    mutating func next(_ bytes: Span<UInt8>, from start: Int) -> (end: Int, frame: HTTP2Frame?) {
        var place = start
        if skipped == 0 {
            while place < bytes.count, headCount < headNeeded {
                take(bytes[place])
                place += 1
            }
            guard headCount == headNeeded else { return (place, nil) }
        }
        let frame = skipped == 0 ? endHead() : nil
        let count = min(skipped, bytes.count - place)
        skipped -= count
        return (place + count, frame)
    }

    private mutating func take(_ byte: UInt8) {
        head[headCount] = byte
        headCount += 1
        let isPriority = headCount == HTTP2Frame.headBytes && head[3] == HTTP2Frame.Kind.priority.rawValue
        if isPriority, length >= Self.dependencyBytes { headNeeded += Self.dependencyBytes }
    }

    private var length: Int { Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2]) }

    private mutating func endHead() -> HTTP2Frame {
        var frame = HTTP2Frame(type: head[3], flags: head[4], stream: identifier(at: 5), length: length)
        if headNeeded > HTTP2Frame.headBytes { frame.dependency = identifier(at: HTTP2Frame.headBytes) }
        skipped = length - (headNeeded - HTTP2Frame.headBytes)
        headCount = 0
        headNeeded = HTTP2Frame.headBytes
        return frame
    }

    /// Reads a stream's number, whose first bit is reserved.
    private func identifier(at place: Int) -> Int32 {
        let number = (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(head[place + $1]) }
        return Int32(bitPattern: number & 0x7fff_ffff)
    }
}

/// The bytes with which every HTTP/2 client begins (RFC 9113 section 3.4).
enum HTTP2Preface {
    enum Match: Equatable {
        case none
        /// More bytes are needed.
        case partial
        case whole
    }

    static var count: Int { bytes.count }
    private static let bytes = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    /// Compares the first bytes of a connection.
    static func match(_ first: Span<UInt8>) -> Match {
        let count = min(first.count, bytes.count)
        for index in 0..<count where first[index] != bytes[index] { return .none }
        return count == bytes.count ? .whole : .partial
    }
}
