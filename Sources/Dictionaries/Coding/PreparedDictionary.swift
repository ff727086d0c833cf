/// A dictionary indexed once for any number of encoders on any threads; nothing changes it after its creation.
package final class PreparedDictionary: Sendable {
    /// The index of one library.
    enum Tables: Sendable {
        case zstd(ZstdDictionary)
        case brotli(BrotliDictionary)
    }

    /// The bytes of the dictionary, to which the index refers.
    package let body: Body
    /// The bytes of memory that the index holds, without those of the body.
    package let memoryBytes: Int
    let tables: Tables

    private init(_ body: Body, _ tables: Tables, memoryBytes: Int) {
        self.body = body
        self.tables = tables
        self.memoryBytes = memoryBytes
    }

    /// The coding that the index is for.
    package var coding: ContentCoding {
        switch tables {
        case .zstd: .dcz
        case .brotli: .dcb
        }
    }

    /// Indexes a body for dcz, in about 2 ms per MiB: too long for an event loop if the body is large.
    package static func zstd(
        _ body: Body, level: Int = 3, bodyBytesHint: Int? = nil
    ) throws(CodingError) -> PreparedDictionary {
        let tables = try ZstdDictionary(body, level: Int32(clamping: level), bodyBytesHint: bodyBytesHint)
        return PreparedDictionary(body, .zstd(tables), memoryBytes: tables.memoryBytes)
    }

    /// Indexes a body for dcb, in about 8 ms for 1 MiB and 130 ms for 4 MiB: too long for an event loop.
    package static func brotli(_ body: Body) throws(CodingError) -> PreparedDictionary {
        let tables = try BrotliDictionary(body)
        return PreparedDictionary(body, .brotli(tables), memoryBytes: tables.memoryBytes)
    }
}
