/// A body as its row stores it: whole, or as a Zstandard frame.
struct StoredBody: Sendable {
    let row: Int64
    let bytes: [UInt8]
    /// The length of the whole body if `bytes` are a frame.
    let count: Int?
    /// The row of the base of the frame.
    let base: Int64?

    /// The largest length that is unpacked; a row edited by hand may claim anything.
    private static let countMax = 1 << 30

    /// Returns the bytes of the whole body, not verified by its digest; `base` is the body that it is packed
    /// over.
    func whole(over base: Body?) throws(StoreDatabaseError) -> [UInt8] {
        guard let count else { return bytes }
        guard (0...Self.countMax).contains(count), (self.base == nil) == (base == nil) else {
            throw .damaged("what it is packed over is not there")
        }
        do {
            return try ZstdFrames.unpack(bytes, count: count, over: base)
        } catch {
            throw .damaged("it cannot be unpacked: \(error)")
        }
    }
}
