internal import Glibc

/// Reads the PROXY protocol header of one accepted connection, and no byte behind it.
///
/// Confined to its loop. Its owner holds it until `onEnd` is called, once.
final class ProxyHeaderReader: Handler {
    /// Receives the socket and the header, or nil twice for an invalid connection.
    typealias Ending = (consuming Descriptor?, ProxyHeader?) -> Void

    private var descriptor: Descriptor?
    private let core: EventLoop.Core
    private var token = Token.none
    private var onEnd: Ending?

    /// Waits for the header until `deadline`, in milliseconds of the loop's clock.
    init(_ descriptor: consuming Descriptor, core: EventLoop.Core, deadline: Int64, onEnd: @escaping Ending) {
        let raw = descriptor.raw
        self.descriptor = consume descriptor
        self.core = core
        self.onEnd = onEnd
        token = core.add(self, descriptor: raw, events: Readiness.edges)
        core.setDeadline(token, deadline)
    }

    func ready(_ events: Readiness, _ core: EventLoop.Core) {
        var bytes = [UInt8](repeating: 0, count: ProxyHeader.byteCountMax)
        let count = peek(into: &bytes)
        guard count != 0 else { return end(nil) }
        guard count > 0 else { return errno == EAGAIN || errno == EINTR ? () : end(nil) }
        do throws(ProxyHeaderError) {
            guard let header = try ProxyHeader.parse(bytes.span.extracting(0..<count)) else {
                // If the connection ends here, another event reports it and finds the same bytes.
                return events.isDisjoint(with: [.peerClosed, .broken]) ? () : end(nil)
            }
            take(header.byteCount, into: &bytes)
            end(header)
        } catch {
            end(nil)
        }
    }

    func expired(_ core: EventLoop.Core) { end(nil) }

    /// Leaves the header only a moment, because the listener stops.
    func hurry(_ core: EventLoop.Core) {
        core.setDeadline(token, core.now + ServerSettings.lastRequestGrace)
    }

    /// Gives up, because the time for draining is over.
    func cancel() { end(nil) }

    private func peek(into bytes: inout [UInt8]) -> Int {
        guard let raw = descriptor?.raw else { return 0 }
        // Safe: the kernel writes at most as much as the array holds.
        return unsafe bytes.withUnsafeMutableBytes { buffer in
            guard let base = buffer.baseAddress else { return 0 }
            return unsafe recv(raw, base, buffer.count, Int32(MSG_PEEK))
        }
    }

    private func take(_ count: Int, into bytes: inout [UInt8]) {
        guard let raw = descriptor?.raw else { return }
        // Safe: `count` bytes were just seen, and the array holds more.
        _ = unsafe bytes.withUnsafeMutableBytes { buffer in
            guard let base = buffer.baseAddress else { return 0 }
            return unsafe recv(raw, base, min(count, buffer.count), 0)
        }
    }

    private func end(_ header: ProxyHeader?) {
        guard let onEnd, let descriptor = descriptor.take() else { return }
        self.onEnd = nil
        // If the connection goes on, its socket gets another token.
        core.unwatch(descriptor.raw)
        core.remove(token)
        if header == nil { onEnd(nil, nil) } else { onEnd(descriptor, header) }
    }
}
