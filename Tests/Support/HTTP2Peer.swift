internal import CNghttp2

/// The client's end of an HTTP/2 connection, which sends frames byte for byte.
///
/// Response fields are decoded by nghttp2's HPACK.
@safe package final class HTTP2Peer {
    package struct Frame: Equatable, CustomStringConvertible {
        package let type: UInt8
        package let flags: UInt8
        package let stream: Int32
        package let payload: [UInt8]

        package var endsStream: Bool { flags & 1 != 0 && type <= 1 }
        /// The error code of a RST_STREAM or GOAWAY.
        package var code: UInt32? {
            let start = type == 3 ? 0 : type == 7 ? 4 : payload.count
            guard payload.count >= start + 4 else { return nil }
            return payload[start..<start + 4].reduce(0) { $0 << 8 | UInt32($1) }
        }
        package var description: String {
            "frame \(type) flags \(flags) stream \(stream), \(payload.count) bytes"
        }
    }

    package struct Response: Equatable {
        package var fields: [String] = []
        /// The fields of each interim response before it.
        package var interim: [[String]] = []
        package var body: [UInt8] = []
        package var trailers: [String] = []
        /// The error code of its RST_STREAM; nil without one.
        package var resetCode: UInt32?

        package var text: String { String(decoding: body, as: UTF8.self) }
        /// The value of a field; nil without one.
        package subscript(name: String) -> String? {
            fields.first { $0.hasPrefix("\(name): ") }.map { String($0.dropFirst(name.count + 2)) }
        }

        package var status: String? {
            fields.first { $0.hasPrefix(":status: ") }.map { String($0.dropFirst(9)) }
        }
    }

    package enum Kind {
        package static let data: UInt8 = 0
        package static let headers: UInt8 = 1
        package static let priority: UInt8 = 2
        package static let reset: UInt8 = 3
        package static let settings: UInt8 = 4
        package static let ping: UInt8 = 6
        package static let goAway: UInt8 = 7
        package static let windowUpdate: UInt8 = 8
        package static let continuation: UInt8 = 9
        package static let priorityUpdate: UInt8 = 16
    }

    package static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    private let socket: WireSocket
    // Owned: made in `init`, freed in `deinit`.
    private let inflater: OpaquePointer
    private var responses: [Int32: Response] = [:]
    private var ended: Set<Int32> = []
    /// All frames that were read.
    package private(set) var frames: [Frame] = []

    /// Connects, and sends preface and SETTINGS unless told otherwise.
    package init(port: UInt16, settings: [(UInt16, UInt32)]? = [], receiveBytes: Int32? = nil) throws {
        socket = try WireSocket(port: port, receiveBytes: receiveBytes)
        var made: OpaquePointer?
        guard unsafe nghttp2_hd_inflate_new(&made) == 0, let made = unsafe made else {
            throw WireError.cannotConnect(12)
        }
        unsafe inflater = made
        guard let settings else { return }
        socket.send(Self.preface)
        var payload: [UInt8] = []
        for (id, value) in settings {
            payload += [UInt8(id >> 8), UInt8(id & 255)] + Self.number(value)
        }
        send(Kind.settings, payload: payload)
    }

    deinit { unsafe nghttp2_hd_inflate_del(inflater) }

    package static func number(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(value >> (24 - 8 * UInt32($0)) & 255) }
    }

    package static func frame(_ type: UInt8, _ flags: UInt8 = 0, stream: Int32 = 0, payload: [UInt8] = [])
        -> [UInt8]
    {
        let count = UInt32(payload.count)
        return [UInt8(count >> 16 & 255), UInt8(count >> 8 & 255), UInt8(count & 255), type, flags]
            + number(UInt32(bitPattern: stream)) + payload
    }

    /// HPACK literals without indexing (RFC 7541 section 6.2.2), none of them Huffman coded.
    package static func block(_ fields: [(String, String)]) -> [UInt8] {
        fields.flatMap { name, value in [0] + literal(Array(name.utf8)) + literal(Array(value.utf8)) }
    }

    /// As above, for names and values of any bytes.
    package static func block(bytes fields: [(name: [UInt8], value: [UInt8])]) -> [UInt8] {
        fields.flatMap { name, value in [0] + literal(name) + literal(value) }
    }

    private static func literal(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.count >= 127 else { return [UInt8(bytes.count)] + bytes }
        var (length, rest) = ([UInt8(127)], bytes.count - 127)
        while rest >= 128 {
            length.append(UInt8(rest & 127 | 128))
            rest >>= 7
        }
        return length + [UInt8(rest)] + bytes
    }

    @discardableResult
    package func send(_ type: UInt8, _ flags: UInt8 = 0, stream: Int32 = 0, payload: [UInt8] = []) -> Bool {
        socket.send(Self.frame(type, flags, stream: stream, payload: payload))
    }

    @discardableResult
    package func send(_ bytes: [UInt8]) -> Bool { socket.send(bytes) }

    /// Sends a request's HEADERS.
    package func request(
        _ stream: Int32, _ path: String = "/", method: String = "GET", _ fields: [(String, String)] = [],
        authority: String = "api.test", endsStream: Bool = true
    ) {
        let pseudo = [
            (":method", method), (":scheme", "http"), (":authority", authority), (":path", path),
        ]
        send(
            Kind.headers, endsStream ? 5 : 4, stream: stream, payload: Self.block(pseudo + fields))
    }

    package func data(_ stream: Int32, _ bytes: [UInt8], endsStream: Bool = false) {
        send(Kind.data, endsStream ? 1 : 0, stream: stream, payload: bytes)
    }

    /// Reads the next frame; nil at the end of the connection, or after a minute.
    package func readFrame() -> Frame? {
        guard let head = socket.receiveExactly(9) else { return nil }
        let count = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
        let stream = Int32(bitPattern: head[5...].reduce(0) { $0 << 8 | UInt32($1) } & 0x7fff_ffff)
        guard let payload = count == 0 ? [] : socket.receiveExactly(count) else { return nil }
        let frame = Frame(type: head[3], flags: head[4], stream: stream, payload: payload)
        frames.append(frame)
        note(frame)
        return frame
    }

    /// Reads until a frame is the wanted one; nil if none comes.
    package func readFrame(where isWanted: (Frame) -> Bool) -> Frame? {
        while let frame = readFrame() { if isWanted(frame) { return frame } }
        return nil
    }

    /// Reads until the stream's response is complete or reset; nil if the connection ends before.
    package func response(_ stream: Int32) -> Response? {
        while !ended.contains(stream) { guard readFrame() != nil else { return nil } }
        return responses[stream]
    }

    /// Reads to the end of the connection; returns the error code of the last GOAWAY.
    package func endingCode() -> UInt32? {
        while readFrame() != nil {}
        return frames.last { $0.type == Kind.goAway }?.code
    }

    private func note(_ frame: Frame) {
        guard frame.stream > 0 else { return }
        switch frame.type {
        case Kind.data: responses[frame.stream, default: Response()].body += frame.payload
        case Kind.headers:
            let fields = inflate(frame.payload)
            if fields.first?.hasPrefix(":status: 1") == true {
                responses[frame.stream, default: Response()].interim.append(fields)
            } else if responses[frame.stream]?.fields.isEmpty == false {
                responses[frame.stream]?.trailers = fields
            } else {
                responses[frame.stream, default: Response()].fields = fields
            }
        case Kind.reset:
            responses[frame.stream, default: Response()].resetCode = frame.code
            ended.insert(frame.stream)
        default: break
        }
        if frame.endsStream { ended.insert(frame.stream) }
    }

    private func inflate(_ block: [UInt8]) -> [String] {
        var fields: [String] = []
        // Safe: the pointers stay within the array, and the fields are copied before the next call.
        unsafe block.withUnsafeBufferPointer { block in
            var offset = 0
            while true {
                var field = unsafe nghttp2_nv()
                var flags: Int32 = 0
                let count = unsafe nghttp2_hd_inflate_hd2(
                    inflater, &field, &flags, block.baseAddress?.advanced(by: offset), block.count - offset, 1
                )
                guard count >= 0 else { break }
                offset += count
                if flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) != 0 {
                    let name = unsafe String(
                        decoding: UnsafeBufferPointer(start: field.name, count: field.namelen), as: UTF8.self)
                    let value = unsafe String(
                        decoding: UnsafeBufferPointer(start: field.value, count: field.valuelen),
                        as: UTF8.self)
                    fields.append("\(name): \(value)")
                }
                if flags & Int32(NGHTTP2_HD_INFLATE_FINAL.rawValue) != 0 { break }
            }
            unsafe nghttp2_hd_inflate_end_headers(inflater)
        }
        return fields
    }
}
