/// A dictionary indexed once for any number of encoders on any threads; only read after its creation.
package final class PreparedDictionary: Sendable {
    /// The index, for one library.
    enum Tables: Sendable {
        case zstd(ZstdDictionary)
        case brotli(BrotliDictionary)
    }

    /// The dictionary's bytes; the index refers to them.
    package let body: Body
    /// The bytes of memory the index holds, the body's own aside.
    package let memoryBytes: Int
    let tables: Tables

    private init(_ body: Body, _ tables: Tables, memoryBytes: Int) {
        self.body = body
        self.tables = tables
        self.memoryBytes = memoryBytes
    }

    /// The coding it was indexed for.
    package var coding: ContentCoding {
        switch tables {
        case .zstd: .dcz
        case .brotli: .dcb
        }
    }

    /// Indexes a body for dcz; about 2 ms for a MiB, so not on an event loop for large ones.
    package static func zstd(
        _ body: Body, level: Int = 3, bodyBytesHint: Int? = nil
    ) throws(CodingError) -> PreparedDictionary {
        let tables = try ZstdDictionary(body, level: Int32(clamping: level), bodyBytesHint: bodyBytesHint)
        return PreparedDictionary(body, .zstd(tables), memoryBytes: tables.memoryBytes)
    }

    /// Indexes a body for dcb; about 8 ms for a MiB and 130 for four, so not on an event loop.
    package static func brotli(_ body: Body) throws(CodingError) -> PreparedDictionary {
        let tables = try BrotliDictionary(body)
        return PreparedDictionary(body, .brotli(tables), memoryBytes: tables.memoryBytes)
    }
}
