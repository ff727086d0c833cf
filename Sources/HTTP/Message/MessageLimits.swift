/// The size limits for the parts of a received message; the body has its own limit.
///
/// HTTP/2 is stricter (`RequestAssembler.fieldBytesMax`). `ParseError` has the statuses.
package struct MessageLimits: Equatable, Sendable {
    /// Bytes of the start line, the fields and the empty line together.
    package var headBytes: Int
    package var fieldCount: Int
    package var requestTargetBytes: Int
    /// Bytes after the size on the line of one chunk.
    package var chunkExtensionBytes: Int
    package var chunkExtensionBytesTotal: Int
    package var trailerBytes: Int
    /// Field lines of the trailer section.
    package var trailerCount: Int

    /// Makes limits whose defaults suit a public server; the settings `limits.request_head` and others replace them.
    package init(
        headBytes: Int = 32_768, fieldCount: Int = 200, requestTargetBytes: Int = 8_192,
        chunkExtensionBytes: Int = 1_024, chunkExtensionBytesTotal: Int = 16_384,
        trailerBytes: Int = 8_192, trailerCount: Int = 64
    ) {
        self.headBytes = headBytes
        self.fieldCount = fieldCount
        self.requestTargetBytes = requestTargetBytes
        self.chunkExtensionBytes = chunkExtensionBytes
        self.chunkExtensionBytesTotal = chunkExtensionBytesTotal
        self.trailerBytes = trailerBytes
        self.trailerCount = trailerCount
    }
}
