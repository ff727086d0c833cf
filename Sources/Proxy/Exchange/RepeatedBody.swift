internal import Dictionaries
internal import Primitives

/// A body on its way that has been, so far, the beginning of one in memory of the same length: nothing of it has to be
/// collected.
///
/// Most responses that a client holds a version for are the newest version again. Comparing each piece where it was
/// received spares a copy of the whole.
struct RepeatedBody {
    let former: Body
    private(set) var count = 0

    /// Begins before the first piece; `former` is the body that may come again.
    init(_ former: Body) { self.former = former }

    var isWhole: Bool { count == former.count }

    /// Counts a piece that equals the next bytes of the former body; returns false for any other, and changes nothing.
    mutating func take(_ piece: Span<UInt8>) -> Bool {
        let former = former.bytes
        guard piece.count <= former.count - count,
            piece.equals(former.span.extracting(count..<count + piece.count))
        else { return false }
        count += piece.count
        return true
    }

    /// Appends the bytes that have been counted.
    func append(to bytes: inout [UInt8]) {
        let former = former.bytes
        bytes.append(former.span.extracting(0..<count))
    }
}
