internal import CZstd

/// The training of libzstd (ZDICT): it collects the strings that many bodies have in common.
package enum ZstdTraining {
    /// The room for the header that libzstd writes in front of the content; a real one has some hundred bytes.
    private static let headerBytesMax = 4 << 10

    /// Returns the content of a dictionary of at most so many bytes, the most common strings last; nil if libzstd finds the
    /// bodies too few or too small.
    ///
    /// Without its header: RFC 9842 section 5 knows raw content only, for which entropy tables are wasted bytes. Takes up to
    /// a second for 16 MiB of bodies.
    package static func content(of bodies: [Body], bytesMax: Int) -> [UInt8]? {
        let sizes = bodies.map(\.count)
        var samples: [UInt8] = []
        samples.reserveCapacity(sizes.reduce(0, +))
        for body in bodies { samples += body.bytes }
        let capacity = bytesMax + headerBytesMax
        // Safe: the library writes at most `capacity` bytes and returns their number; it reads as many samples as there are
        // sizes, whose sum is the count of `samples`, and keeps no pointer.
        let trained = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            let code = unsafe ZDICT_trainFromBuffer(
                buffer.baseAddress, capacity, samples, sizes, UInt32(clamping: sizes.count))
            count = ZDICT_isError(code) == 0 ? min(code, capacity) : 0
        }
        let header = unsafe ZDICT_getDictHeaderSize(trained, trained.count)
        guard ZDICT_isError(header) == 0, header < trained.count else { return nil }
        return Array(trained[header...].suffix(bytesMax))
    }
}
