internal import Glibc

/// Comparison of whole arrays.
enum ByteComparison {
    /// Returns true if two arrays have the same bytes.
    ///
    /// It is one comparison of memory; `==` takes twelve times as long, byte by byte.
    static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        // Safe: both are valid for their count during the call. Without bytes the addresses may be nil.
        return unsafe left.withUnsafeBytes { left in
            unsafe right.withUnsafeBytes { right in
                guard let first = left.baseAddress, let second = right.baseAddress else { return true }
                return unsafe first == second || memcmp(first, second, left.count) == 0
            }
        }
    }
}
