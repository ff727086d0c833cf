internal import COpenSSL
internal import Glibc

/// The socket under OpenSSL, with results of its calls that OpenSSL does not report.
@safe struct TLSSocket {
    let descriptor: Int32
    /// True if the kernel may have more bytes.
    var mayHaveMore = true
    /// True once the peer has closed its side.
    var isAtEnd = false
    /// The error that ended the connection; 0 for none.
    var error: Int32 = 0
    /// The number of bytes that may still be read before other connections have their turn.
    var allowance = 0
    /// A session that the peer has offered; owned by this value until it is taken.
    var session: OpaquePointer?
    /// True while another record follows the one that is written.
    var moreFollows = false
    /// True while writes wait for the rest of a flight.
    var holds = false
    /// Bytes of a flight, or bytes for which the socket had no room.
    private var held: [UInt8] = []

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Keeps bytes for `flush`.
    mutating func hold(_ bytes: UnsafeRawBufferPointer) {
        // Safe: copied at once.
        unsafe held.append(contentsOf: bytes)
    }

    /// Sends the held bytes; true if none are left, also after the connection has failed.
    mutating func flush() -> Bool {
        guard !held.isEmpty else { return true }
        // Safe: the kernel reads within the array and keeps no pointer.
        let sent = unsafe Socket.send(descriptor, held, held.count)
        if sent > 0 {
            held.removeFirst(sent)
        } else if errno != EAGAIN && errno != EINTR {
            error = errno
            held = []
        }
        return held.isEmpty
    }
}

/// The BIO method by which OpenSSL reads and writes the socket without signals, and records the results.
///
/// OpenSSL's own method for sockets raises SIGPIPE, and does not tell an empty socket from one that filled the
/// buffer.
// @unchecked proof: made once, then only read, never freed.
@safe final class TLSSocketMethod: @unchecked Sendable {
    static let shared = TLSSocketMethod()

    private let method: OpaquePointer?

    private init() {
        let type = BIO_get_new_index() | BIO_TYPE_SOURCE_SINK
        unsafe method = BIO_meth_new(type, "dictum socket")
        guard let method = unsafe method else { return }
        unsafe BIO_meth_set_read_ex(method, Self.read)
        unsafe BIO_meth_set_write_ex(method, Self.write)
        unsafe BIO_meth_set_ctrl(method, Self.control)
    }

    /// Makes a BIO on a socket, which must outlive it; nil without memory.
    func open(_ socket: UnsafeMutablePointer<TLSSocket>) -> OpaquePointer? {
        guard let method = unsafe method, let bio = unsafe BIO_new(method) else { return nil }
        unsafe BIO_set_data(bio, socket)
        unsafe BIO_set_init(bio, 1)
        return unsafe bio
    }

    private static func socket(_ bio: OpaquePointer?) -> UnsafeMutablePointer<TLSSocket>? {
        // Safe: `open` put this pointer there.
        unsafe BIO_get_data(bio)?.assumingMemoryBound(to: TLSSocket.self)
    }

    private static let read:
        @convention(c) (
            OpaquePointer?, UnsafeMutablePointer<CChar>?, Int, UnsafeMutablePointer<Int>?
        ) -> Int32 = { bio, into, capacity, taken in
            guard let socket = unsafe socket(bio), let into = unsafe into else { return 0 }
            unsafe dictum_bio_clear_retry(bio)
            guard unsafe socket.pointee.allowance > 0 else {
                unsafe socket.pointee.mayHaveMore = true
                unsafe dictum_bio_set_retry_read(bio)
                return 0
            }
            // Safe: OpenSSL gives room for `capacity` bytes.
            let count = unsafe recv(socket.pointee.descriptor, into, capacity, 0)
            unsafe socket.pointee.mayHaveMore = count == capacity
            if count > 0 {
                unsafe socket.pointee.allowance -= count
                unsafe taken?.pointee = count
                return 1
            }
            if count == 0 {
                unsafe socket.pointee.isAtEnd = true
            } else if errno == EAGAIN || errno == EINTR {
                unsafe dictum_bio_set_retry_read(bio)
            } else {
                unsafe socket.pointee.error = errno
            }
            return 0
        }

    private static let write:
        @convention(c) (OpaquePointer?, UnsafePointer<CChar>?, Int, UnsafeMutablePointer<Int>?) -> Int32 = {
            bio, from, count, taken in
            guard let socket = unsafe socket(bio), let from = unsafe from else { return 0 }
            unsafe dictum_bio_clear_retry(bio)
            // Safe, here and below: OpenSSL gives `count` bytes.
            if unsafe socket.pointee.holds {
                unsafe socket.pointee.hold(UnsafeRawBufferPointer(start: from, count: count))
                unsafe taken?.pointee = count
                return 1
            }
            guard unsafe socket.pointee.flush() else {
                unsafe dictum_bio_set_retry_write(bio)
                return 0
            }
            let sent = unsafe Socket.send(
                socket.pointee.descriptor, from, count, moreFollows: socket.pointee.moreFollows)
            if sent > 0 {
                unsafe taken?.pointee = sent
                return 1
            }
            if errno == EAGAIN || errno == EINTR {
                unsafe dictum_bio_set_retry_write(bio)
            } else {
                unsafe socket.pointee.error = errno
            }
            return 0
        }

    /// `TLSTransport` sends held bytes at the end of a flight, whatever OpenSSL asks; it needs no other
    /// command.
    private static let control: @convention(c) (OpaquePointer?, Int32, Int, UnsafeMutableRawPointer?) -> Int =
        { _, command, _, _ in
            command == BIO_CTRL_FLUSH ? 1 : 0
        }
}
