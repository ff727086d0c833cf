internal import CZlib

/// gzip of one or several members (RFC 1952 section 2.2).
@safe final class GzipDecoder: Decoder {
    private enum Position { case start, inMember, afterMember }

    let coding = ContentCoding.gzip
    // On the heap by itself: zlib checks that a z_stream has not moved.
    private let stream: UnsafeMutablePointer<z_stream>
    private var budget: DecoderBudget
    private var position = Position.start

    init(budget: DecoderBudget) throws(CodingError) {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        let code = unsafe dictum_inflate_init_gzip(stream)
        guard code == Z_OK else {
            unsafe stream.deallocate()
            throw CodingError(.gzip, .setup, "inflateInit2 returned \(code)")
        }
        unsafe self.stream = stream
        self.budget = budget
    }

    deinit {
        // Safe: owned.
        unsafe _ = inflateEnd(stream)
        unsafe stream.deallocate()
    }

    func decode(_ input: Span<UInt8>, into output: inout [UInt8]) throws(CodingError) {
        budget.read(input.count)
        // Safe: the input is used only within the call.
        try unsafe input.withUnsafeBufferPointer { (buffer) throws(CodingError) in
            var rest = unsafe buffer[...]
            while unsafe !rest.isEmpty {
                // zlib counts in 32 bits.
                let piece = unsafe rest.prefix(1 << 30)
                unsafe rest = rest.dropFirst(piece.count)
                try unsafe inflateAll(UnsafeBufferPointer(rebasing: piece), &output)
            }
        }
    }

    func finish() throws(CodingError) {
        guard position == .afterMember else { throw CodingError(coding, .end, "the stream is cut short") }
    }

    private func inflateAll(
        _ piece: UnsafeBufferPointer<UInt8>, _ output: inout [UInt8]
    ) throws(CodingError) {
        // zlib does not write through next_in; the type lacks the const.
        unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: piece.baseAddress)
        unsafe stream.pointee.avail_in = UInt32(piece.count)
        var isRoomUsedUp = false
        while unsafe stream.pointee.avail_in > 0 || isRoomUsedUp {
            if position == .afterMember {
                if unsafe stream.pointee.avail_in == 0 { return }
                guard unsafe inflateReset(stream) == Z_OK else {
                    throw CodingError(coding, .decode, "inflateReset failed")
                }
            }
            position = .inMember
            let room = budget.roomBytes
            let before = output.count
            // Safe: the buffer has at least `room` bytes; the input is valid during the call.
            try unsafe output.append(upTo: room) { (buffer) throws(CodingError) in
                unsafe stream.pointee.next_out = buffer.baseAddress
                unsafe stream.pointee.avail_out = UInt32(room)
                try inflateOnce()
                return unsafe room - Int(stream.pointee.avail_out)
            }
            try budget.wrote(output.count - before)
            isRoomUsedUp = unsafe stream.pointee.avail_out == 0
        }
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
