internal import CLinux
internal import Glibc

/// A socket without TLS.
final class PlainTransport: Transport {
    private let owned: Descriptor

    init(_ descriptor: consuming Descriptor) {
        owned = descriptor
    }

    var descriptor: Int32 { owned.raw }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> ReadOutcome {
        guard let base = buffer.baseAddress else { return .wouldBlock }
        while true {
            // Safe: the kernel writes at most `buffer.count` bytes at `base`.
            let count = unsafe CLinux_receive(descriptor, base, buffer.count)
            if count > 0 { return .bytes(count, mayHaveMore: count == buffer.count) }
            if count == 0 { return .end }
            if errno == EAGAIN { return .wouldBlock }
            if errno != EINTR { return .failed(.last) }
        }
    }

    func write(_ first: Span<UInt8>, _ second: Span<UInt8>) -> WriteOutcome {
        while true {
            // Safe: the kernel reads within both spans and keeps no pointer.
            let count = unsafe first.withUnsafeBytes { first in
                unsafe second.withUnsafeBytes { second in
                    unsafe CLinux_send(
                        descriptor, first.baseAddress, first.count, second.baseAddress, second.count)
                }
            }
            if count >= 0 { return .wrote(count) }
            if errno == EAGAIN { return .wouldBlock }
            if errno != EINTR { return .failed(.last) }
        }
    }

    func closeWriting() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    func resetOnClose() {
        CLinux_reset_on_close(descriptor)
    }
}
