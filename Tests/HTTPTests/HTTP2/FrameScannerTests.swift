internal import TestSupport
internal import Testing

@testable import HTTP

/// Finding the heads of frames in bytes that come in any pieces (RFC 9113 section 4.1).
struct FrameScannerTests {
    private static let frames: [[UInt8]] = [
        HTTP2Peer.frame(4), HTTP2Peer.frame(1, 5, stream: 1, payload: [1, 2, 3]),
        HTTP2Peer.frame(2, stream: 3, payload: [0x80, 0, 0, 5, 9]),
        HTTP2Peer.frame(2, stream: 3, payload: [1, 2]),
        HTTP2Peer.frame(0, 1, stream: 1, payload: [UInt8](repeating: 7, count: 300)),
        HTTP2Peer.frame(6, 1, payload: [UInt8](repeating: 0, count: 8)), HTTP2Peer.frame(0xfa, 1, stream: 5),
        HTTP2Peer.frame(9, 4, stream: 7, payload: [1]),
    ]

    /// Returns the frames in the bytes, which come in pieces of some length.
    private func scan(_ bytes: [UInt8], pieces: Int) -> [HTTP2Frame] {
        var (scanner, found, start) = (FrameScanner(), [HTTP2Frame](), 0)
        while start < bytes.count {
            let piece = Array(bytes[start..<min(start + pieces, bytes.count)])
            var offset = 0
            while offset < piece.count {
                let (end, frame) = scanner.next(piece.span, from: offset)
                #expect(end > offset)
                if let frame { found.append(frame) }
                offset = end
            }
            start += piece.count
        }
        return found
    }

    @Test(arguments: [1, 2, 8, 9, 10, 13, 100, 10_000]) func `frames in pieces are those of the whole`(
        pieces: Int
    ) {
        let found = scan(HTTP2Peer.preface + Self.frames.joined(), pieces: pieces)
        #expect(
            found.map(\.kind) == [
                .other, .headers, .priority, .priority, .data, .other, .other, .continuation,
            ])
        #expect(found.map(\.stream) == [0, 1, 3, 3, 1, 0, 5, 7])
        #expect(found.map(\.length) == [0, 3, 5, 2, 300, 8, 0, 1])
        #expect(found.map(\.endsStream) == [false, true, false, false, true, false, false, false])
        #expect(found.map(\.dependency) == [0, 0, 5, 0, 0, 0, 0, 0], "without its reserved bit")
    }
}
