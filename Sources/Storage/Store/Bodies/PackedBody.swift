internal import Dictionaries

/// A whole body over which others are packed.
struct PackingBase: Sendable {
    /// Its row in the table of bodies.
    let row: Int64
    let body: Body
}

/// A body as a Zstandard frame, over a base or alone.
struct PackedBody: Sendable {
    let frame: [UInt8]
    var base: PackingBase?
    /// The length of the whole body; `digest` is also that of the whole body.
    let count: Int
    let digest: Digest

    /// Returns the whole body.
    ///
    /// The frame's checksum is verified here; its digest was verified when the frame was made or read.
    func unpacked() throws(CodingError) -> Body {
        Body(try ZstdFrames.unpack(frame, count: count, over: base?.body), digest: digest)
    }
}

/// A body as its row stores it: whole, or as a Zstandard frame.
struct StoredBody: Sendable {
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
            throw .damaged("its base is missing")
        }
        do {
            return try ZstdFrames.unpack(bytes, count: count, over: base)
        } catch {
            throw .damaged("it cannot be unpacked: \(error)")
        }
    }
}
