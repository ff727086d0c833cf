/// A body as its row has it: whole, or as a Zstandard frame.
struct StoredBody: Sendable {
    let row: Int64
    let bytes: [UInt8]
    /// The length of the whole body, where `bytes` are a frame.
    let count: Int?
    /// The row of the body that the frame leans on.
    let base: Int64?

    /// No body is larger; a row changed by hand may say anything.
    private static let countMax = 1 << 30

    /// The bytes of the whole body, not compared with its digest; `base` is the body that it leans on.
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
