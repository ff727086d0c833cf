/// The bytes at the start of a dictionary-coded body (RFC 9842 sections 4 and 5): a magic number, then the digest.
enum DictionaryHeader {
    /// Returns the header of `coding` for a dictionary; empty for codings without one.
    static func bytes(for coding: ContentCoding, digest: Digest) -> [UInt8] {
        magic(of: coding) + (coding.usesDictionary ? digest.bytes : [])
    }

    private static func magic(of coding: ContentCoding) -> [UInt8] {
        switch coding {
        case .dcb: [0xff, 0x44, 0x43, 0x42]
        // A Zstandard skippable frame of 32 bytes.
        case .dcz: [0x5e, 0x2a, 0x4d, 0x18, 0x20, 0x00, 0x00, 0x00]
        case .identity, .gzip, .br, .zstd: []
        }
    }
}
