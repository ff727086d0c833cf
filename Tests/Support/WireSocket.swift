internal import Glibc
internal import Primitives

/// One end of a connection: a blocking socket that gives up after a minute.
///
/// Used by one thread at a time.
// @unchecked proof: the descriptor and the bytes read are touched by the thread that holds the connection; only
// `shutdown`, which a socket allows from any thread, is called by others, and never after `deinit` has begun.
package final class WireSocket: @unchecked Sendable {
    /// How a connection ended, or did not.
    package enum Ending: Sendable {
        case closed, reset, timedOut
    }

    /// Long, since a machine may be busy: nothing waits so long but what fails.
    private static let patienceMilliseconds = 60_000

    private let descriptor: Int32
    private var unread: [UInt8] = []
    /// The trailer section of the last chunked body.
    private var trailers: [String] = []
    /// How the connection ended; nil as long as it is not known to have.
    package private(set) var ending: Ending?

    package init(owning descriptor: Int32) {
        self.descriptor = descriptor
        prepare()
    }

    /// Sets how long the socket waits, and that it sends small pieces at once: a peer acknowledges after 40 ms otherwise.
    private func prepare() {
        setTimeouts(milliseconds: Self.patienceMilliseconds)
        var one: Int32 = 1
        // Safe: `one` is local and outlives the call.
        unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4)
    }

    /// Connects to a port of this machine; `receiveBytes` bounds what the kernel takes without being read.
    ///
    /// `isAwaited` is false for a connection that may never be accepted: it is begun only, and cannot be used.
    package init(port: UInt16, receiveBytes: Int32? = nil, isAwaited: Bool = true) throws {
        // What children inherit by chance counts against their limits, and keeps connections open.
        let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | (isAwaited ? 0 : SOCK_NONBLOCK.rawValue)
        descriptor = socket(AF_INET, Int32(type), 0)
        if var receiveBytes {
            // Safe: `receiveBytes` is local and outlives the call.
            unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBytes, 4)
        }
        prepare()
        // Safe: the pointer is used within the call.
        let code = unsafe withLoopbackAddress(port: port) { unsafe connect(descriptor, $0, $1) }
        guard code == 0 || !isAwaited && errno == EINPROGRESS else { throw WireError.cannotConnect(errno) }
    }

    deinit {
        close(descriptor)
    }

    // MARK: Sending

    /// Sends all bytes; false if the other side does not take them.
    @discardableResult
    package func send(_ bytes: [UInt8]) -> Bool { push(all: bytes) == bytes.count }

    /// Sends bytes until all are taken, or none for a while; returns the number taken.
    package func send(_ bytes: [UInt8], quietMilliseconds: Int) -> Int {
        setTimeouts(milliseconds: quietMilliseconds)
        defer { setTimeouts(milliseconds: Self.patienceMilliseconds) }
        return push(all: bytes)
    }

    /// Sends a text as it is.
    @discardableResult
    package func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// Sends `piece` repeatedly until none is taken for a while or `limit` bytes are gone; returns the number taken.
    package func flood(with piece: [UInt8], limit: Int, quietMilliseconds: Int) -> Int {
        setTimeouts(milliseconds: quietMilliseconds)
        defer { setTimeouts(milliseconds: Self.patienceMilliseconds) }
        var sent = 0
        while sent < limit {
            let count = push(piece.span)
            guard count > 0 else { break }
            sent += count
        }
        return sent
    }

    /// Sends bytes until all are taken, or none within the time-out; returns the number taken.
    private func push(all bytes: [UInt8]) -> Int {
        var sent = 0
        while sent < bytes.count {
            let count = push(bytes.span.extracting(sent..<bytes.count))
            guard count > 0 else { break }
            sent += count
        }
        return sent
    }

    private func push(_ bytes: Span<UInt8>) -> Int {
        // Safe: the kernel reads within the span and keeps no pointer.
        unsafe bytes.withUnsafeBytes {
            unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
    }

    /// Says that nothing more will be sent.
    package func closeWriting() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Ends both directions; what has been sent still arrives.
    package func finish() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Resets the connection (RST) at once: what Linux does when a socket is connected to no address.
    package func reset() {
        var nowhere = sockaddr()
        nowhere.sa_family = sa_family_t(AF_UNSPEC)
        // Safe: `nowhere` is local and outlives the call.
        _ = unsafe connect(descriptor, &nowhere, socklen_t(MemoryLayout<sockaddr>.size))
    }

    /// Has the end of this object reset the connection (RST).
    package func resetOnEnd() {
        var now = linger(l_onoff: 1, l_linger: 0)
        // Safe: `now` is local and outlives the call.
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
    }

    // MARK: Receiving

    /// The next response; `isBodiless` for the answer to a HEAD.
    package func receive(isBodiless: Bool = false) throws -> WireMessage {
        var message = try receiveHead()
        if isBodiless || [204, 304].contains(message.status) || 100...199 ~= message.status {
            message.isWhole = true
        } else {
            receiveBody(&message, endsWithConnection: true)
        }
        return message
    }

    /// The next request; a client that waits for 100 (Continue) gets it.
    func receiveRequest() throws -> WireMessage {
        var message = try receiveHead()
        if message["Expect"] == "100-continue" { send("HTTP/1.1 100 Continue\r\n\r\n") }
        receiveBody(&message, endsWithConnection: false)
        return message
    }

    /// The next head; its body is still to come.
    package func receiveHead() throws -> WireMessage {
        guard let head = take(through: "\r\n\r\n") else { throw WireError.noHead(ending) }
        return WireMessage(head: String(decoding: head, as: UTF8.self))
    }

    /// The next bytes of a message whose head has come, without framing; empty at its end, nil when it is cut off.
    package func receivePiece(of message: WireMessage) -> [UInt8]? {
        if message.isChunked { return receiveChunk() }
        guard !unread.isEmpty || fill() else { return nil }
        defer { unread = [] }
        return unread
    }

    /// Exactly so many bytes, whatever they are; nil when the connection ends before.
    package func receiveExactly(_ count: Int) -> [UInt8]? {
        while unread.count < count, fill() {}
        guard unread.count >= count else { return nil }
        defer { unread.removeFirst(count) }
        return Array(unread.prefix(count))
    }

    /// The bytes that are there, or the next ones that come; nil when none do.
    package func receiveSome() -> [UInt8]? {
        guard !unread.isEmpty || fill() else { return nil }
        defer { unread = [] }
        return unread
    }

    /// Everything until the connection ends.
    package func receiveAll() -> [UInt8] {
        while fill() {}
        defer { unread = [] }
        return unread
    }

    /// Whether nothing comes, and no end, for so long.
    package func isQuiet(milliseconds: Int) -> Bool {
        guard unread.isEmpty else { return false }
        setTimeouts(milliseconds: milliseconds)
        defer { setTimeouts(milliseconds: Self.patienceMilliseconds) }
        let isQuiet = !fill() && ending == .timedOut
        if isQuiet { ending = nil }
        return isQuiet
    }

    /// The body of a message whose head has come, as far as it comes.
    package func receiveBody(_ message: inout WireMessage, endsWithConnection: Bool = true) {
        if message.isChunked {
            while let piece = receiveChunk() {
                message.body += piece
                if piece.isEmpty {
                    message.isWhole = true
                    message.trailers = trailers
                    return
                }
            }
        } else if let length = message.length {
            while unread.count < length, fill() {}
            message.isWhole = unread.count >= length
            message.body = Array(unread.prefix(length))
            unread.removeFirst(min(length, unread.count))
        } else if endsWithConnection {
            message.body = receiveAll()
            message.isWhole = ending == .closed
        } else {
            message.isWhole = true
        }
    }

    private func receiveChunk() -> [UInt8]? {
        guard let line = receiveLine(), let size = Int(line, radix: 16) else { return nil }
        if size == 0 {
            trailers = []
            while let line = receiveLine(), !line.isEmpty { trailers.append(line) }
            return ending == nil ? [] : nil
        }
        while unread.count < size + 2, fill() {}
        guard unread.count >= size + 2 else { return nil }
        defer { unread.removeFirst(size + 2) }
        return Array(unread.prefix(size))
    }

    private func receiveLine() -> String? {
        take(through: "\r\n").map { String(decoding: $0.dropLast(2), as: UTF8.self) }
    }

    // MARK: Receiving text

    /// Reads up to and including `end`; returns what came if the connection ends or stays silent before it.
    package func read(through end: String) -> String {
        let bytes = take(through: end) ?? take(unread.count)
        return String(bytes.span)
    }

    /// Reads a head with its empty line.
    package func readHead() -> String { read(through: "\r\n\r\n") }

    /// Reads this many bytes, or fewer if no more come.
    package func read(_ count: Int) -> String {
        while unread.count < count, fill() {}
        let bytes = take(min(count, unread.count))
        return String(bytes.span)
    }

    /// Reads until the end; returns the text and the kind of end.
    package func readToEnd() -> (text: String, ending: Ending?) {
        let bytes = receiveAll()
        return (String(bytes.span), ending)
    }

    /// Reads until the end; returns the number of bytes and the kind of end.
    package func countToEnd() -> (count: Int, ending: Ending?) {
        var count = 0
        repeat {
            count += unread.count
            unread = []
        } while fill()
        return (count, ending)
    }

    private func take(through end: String) -> [UInt8]? {
        while true {
            if let place = unread.firstRange(of: Array(end.utf8)) { return take(place.upperBound) }
            guard fill() else { return nil }
        }
    }

    private func take(_ count: Int) -> [UInt8] {
        defer { unread.removeFirst(count) }
        return Array(unread[..<count])
    }

    /// Reads what there is; false when there is nothing more.
    private func fill() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        // Safe: the kernel writes at most as much as the buffer holds.
        let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
        if count > 0 { unread += buffer[..<count] }
        if count == 0 { ending = .closed }
        if count < 0 { ending = errno == EAGAIN ? .timedOut : .reset }
        return count > 0
    }

    private func setTimeouts(milliseconds: Int) {
        var time = timeval(tv_sec: milliseconds / 1000, tv_usec: milliseconds % 1000 * 1000)
        let size = socklen_t(MemoryLayout<timeval>.size)
        // Safe: `time` is local and outlives the calls.
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, size)
    }
}

/// Why there is no message.
package enum WireError: Error {
    case cannotConnect(Int32)
    case cannotListen(Int32)
    case noConnection(Int32)
    case noHead(WireSocket.Ending?)
}
