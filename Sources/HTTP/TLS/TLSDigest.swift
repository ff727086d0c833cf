internal import COpenSSL

enum TLSDigest {
    /// Returns the SHA-1 of the bytes, for protocols that ask for it without need of its strength.
    static func sha1(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 20)
        // Safe: OpenSSL reads within one array and writes 20 bytes to the other.
        _ = unsafe SHA1(bytes, bytes.count, &digest)
        return digest
    }
}
