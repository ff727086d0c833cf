internal import Glibc
internal import Primitives

@testable import HTTP

/// The other end of a connection under test: a blocking socket with a time limit for every call.
final class Peer {
    /// The end of a connection, or its absence.
    enum Ending: Equatable {
        case closed
        case reset
        case stillOpen
    }

    private let descriptor: Descriptor
    private var unread: [UInt8] = []

    init(owning raw: Int32) {
        descriptor = Descriptor(owning: raw)
        setTimeout(SO_RCVTIMEO, seconds: 60)
        setTimeout(SO_SNDTIMEO, seconds: 60)
    }

    /// Connects; `receiveBuffer` limits the bytes that the kernel takes before they are read.
    static func connect(to endpoint: Endpoint, receiveBuffer: Int32? = nil) throws -> Peer {
        guard case .ip(_, let port) = endpoint else { throw SystemError(code: EINVAL) }
        let peer = Peer(
            owning: socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0))
        if let receiveBuffer { peer.set(SO_RCVBUF, receiveBuffer) }
        guard
            unsafe withLoopbackAddress(port: port, { unsafe Glibc.connect(peer.descriptor.raw, $0, $1) }) == 0
        else { throw SystemError(code: errno) }
        return peer
    }

    /// Begins to connect, and does not wait for the connection.
    static func begin(to endpoint: Endpoint) throws -> Peer {
        guard case .ip(_, let port) = endpoint else { throw SystemError(code: EINVAL) }
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let peer = Peer(owning: socket(AF_INET, type, 0))
        let outcome = unsafe withLoopbackAddress(port: port) {
            unsafe Glibc.connect(peer.descriptor.raw, $0, $1)
        }
        guard outcome == 0 || errno == EINPROGRESS else { throw SystemError(code: errno) }
        return peer
    }

    /// Sends everything unless the other side does not take it within the time limit.
    @discardableResult
    func send(_ text: String) -> Bool { send(wire(text)) }

    /// Sends everything unless the other side does not take it within the time limit.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = push(bytes.span.extracting(sent..<bytes.count))
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Sends `piece` repeatedly until none is taken for a while or `limit` bytes are gone; returns the number
    /// taken.
    func flood(with piece: [UInt8], limit: Int, quietMilliseconds: Int) -> Int {
        setTimeout(SO_SNDTIMEO, milliseconds: quietMilliseconds)
        defer { setTimeout(SO_SNDTIMEO, seconds: 60) }
        var sent = 0
        while sent < limit {
            let count = push(piece.span)
            guard count > 0 else { break }
            sent += count
        }
        return sent
    }

    private func push(_ bytes: Span<UInt8>) -> Int {
        // The kernel reads within the span and keeps no pointer.
        unsafe bytes.withUnsafeBytes {
            unsafe Glibc.send(descriptor.raw, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
    }

    /// Reads up to and including `end`; returns what came if the connection ends or stays silent before it.
    func read(through end: String) -> String {
        while true {
            let text = String(unread.span)
            if let place = text.firstRange(of: end) {
                let head = String(text[..<place.upperBound])
                unread.removeFirst(head.utf8.count)
                return head
            }
            guard fill() == nil else { return take(unread.count) }
        }
    }

    /// Reads a head with its empty line.
    func readHead() -> String { read(through: "\r\n\r\n") }

    /// Reads this many bytes, or fewer if no more come.
    func read(_ count: Int) -> String {
        while unread.count < count, fill() == nil {}
        return take(min(count, unread.count))
    }

    /// Reads until the end; returns the text and the kind of end.
    func readToEnd() -> (text: String, ending: Ending) {
        while true {
            if let ending = fill() { return (take(unread.count), ending) }
        }
    }

    /// Like `readToEnd`, but returns only the number of bytes.
    func countToEnd() -> (count: Int, ending: Ending) {
        var count = unread.count
        while true {
            unread = []
            let ending = fill()
            count += unread.count
            if let ending { return (count, ending) }
        }
    }

    /// Returns true if neither bytes nor an end come for this time.
    func isQuiet(milliseconds: Int) -> Bool {
        setTimeout(SO_RCVTIMEO, milliseconds: milliseconds)
        defer { setTimeout(SO_RCVTIMEO, seconds: 60) }
        return unread.isEmpty && fill() == .stillOpen
    }

    func closeWriting() { shutdown(descriptor.raw, Int32(SHUT_WR)) }

    /// Makes the end of this object reset the connection.
    func resetOnEnd() {
        var now = linger(l_onoff: 1, l_linger: 0)
        // `now` is local and outlives the call.
        unsafe setsockopt(descriptor.raw, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
    }

    private func take(_ count: Int) -> String {
        defer { unread.removeFirst(count) }
        return String(unread.span.extracting(0..<count))
    }

    private func fill() -> Ending? {
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        // The kernel writes at most as much as the buffer holds.
        let count = unsafe recv(descriptor.raw, &buffer, buffer.count, 0)
        if count > 0 {
            unread += buffer[..<count]
            return nil
        }
        if count == 0 { return .closed }
        return errno == EAGAIN ? .stillOpen : .reset
    }

    private func set(_ option: Int32, _ value: Int32) {
        var value = value
        // `value` is local and outlives the call.
        unsafe setsockopt(descriptor.raw, SOL_SOCKET, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    private func setTimeout(_ option: Int32, seconds: Int = 0, milliseconds: Int = 0) {
        var time = timeval(tv_sec: seconds + milliseconds / 1000, tv_usec: milliseconds % 1000 * 1000)
        // `time` is local and outlives the call.
        unsafe setsockopt(descriptor.raw, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
    }
}

/// Calls `body` with the socket address of 127.0.0.1 and a port.
func withLoopbackAddress(port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    // A sockaddr_in has the layout that AF_INET says, and `address` outlives the call.
    return unsafe withUnsafePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            unsafe body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
}
