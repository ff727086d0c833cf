// swift-format-ignore-file
// The part of CryptoKit that the shared modules use, with its availability.

@available(macOS 10.15, iOS 13.0, *)
public struct SHA256Digest: Sequence, Sendable {
    public func makeIterator() -> AnyIterator<UInt8> { AnyIterator { nil } }
    public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try body(UnsafeRawBufferPointer(start: nil, count: 0))
    }
}

@available(macOS 10.15, iOS 13.0, *)
public struct SHA256: Sendable {
    public init() {}
    public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}
    public func finalize() -> SHA256Digest { SHA256Digest() }
}
