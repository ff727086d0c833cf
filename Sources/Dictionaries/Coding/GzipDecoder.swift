internal import CZlib

/// A decoder of gzip with one or several members (RFC 1952 section 2.2).
@safe final class GzipDecoder: DecoderEngine {
    private enum Position { case start, inMember, afterMember }

    let coding = ContentCoding.gzip
    // A z_stream has its own place on the heap: zlib checks that it has not moved.
    private let stream: UnsafeMutablePointer<z_stream>
    private(set) var hasMore = false
    private var position = Position.start
    // By zlib's documentation: its state and a window of 32 KiB.
    let memoryBytes = 48 << 10
    var memoryBytesMax: Int { memoryBytes }

    init() throws(CodingError) {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        let code = unsafe dictum_inflate_init_gzip(stream)
        guard code == Z_OK else {
            unsafe stream.deallocate()
            throw CodingError(.gzip, .setup, "inflateInit2 returned \(code)")
        }
        unsafe self.stream = stream
    }

    deinit {
        // Safe: owned.
        unsafe _ = inflateEnd(stream)
        unsafe stream.deallocate()
    }

    func step(_ input: Span<UInt8>, room: Int, into output: inout [UInt8]) throws(CodingError) -> Int {
        if position == .afterMember {
            guard unsafe inflateReset(stream) == Z_OK else {
                throw CodingError(coding, .decode, "inflateReset failed")
            }
        }
        position = .inMember
        // zlib counts in 32 bits.
        let count = min(input.count, 1 << 30)
        // Safe: the buffers are valid during the call, and the output has at least `room` bytes, at most a step of
        // the budget.
        try unsafe input.withUnsafeBufferPointer { (source) throws(CodingError) in
            // zlib does not write through next_in; its type lacks the const.
            unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: source.baseAddress)
            unsafe stream.pointee.avail_in = UInt32(count)
            try unsafe output.append(upTo: room) { (target) throws(CodingError) in
                unsafe stream.pointee.next_out = target.baseAddress
                unsafe stream.pointee.avail_out = UInt32(room)
                try inflateOnce()
                return unsafe room - Int(stream.pointee.avail_out)
            }
        }
        hasMore = unsafe position == .inMember && stream.pointee.avail_out == 0
        return unsafe count - Int(stream.pointee.avail_in)
    }

    func finish() throws(CodingError) {
        guard position == .afterMember else { throw CodingError(coding, .end, "the stream is cut short") }
    }

    private func inflateOnce() throws(CodingError) {
        switch unsafe inflate(stream, Z_NO_FLUSH) {
        case Z_OK, Z_BUF_ERROR: break
        case Z_STREAM_END: position = .afterMember
        case let code:
            // Safe: the library points msg at static text.
            let message = unsafe stream.pointee.msg.map { unsafe String(cString: $0) }
            throw CodingError(coding, .decode, message ?? "inflate returned \(code)")
        }
    }
}
