internal import Dictionaries
internal import Primitives

/// A body on its way that has been, so far, the beginning of one in memory: nothing of it has to be collected.
///
/// Most responses that a client holds a version for are the newest version again. Comparing each piece where it was
/// received spares a copy of the whole.
struct RepeatedBody {
    private let former: Body
    private(set) var count = 0

    /// Begins before the first piece; `former` is the body that may come again.
    init(_ former: Body) { self.former = former }

    /// Takes a piece if the former body goes on with it; otherwise returns false, and changes nothing.
    mutating func take(_ piece: Span<UInt8>) -> Bool {
        let former = former.bytes
        guard piece.count <= former.count - count,
            piece.equals(former.span.extracting(count..<count + piece.count))
        else { return false }
        count += piece.count
        return true
    }

    /// The bytes so far; O(1) if they are the whole former body, whose memory they share.
    var bytes: [UInt8] {
        count == former.count ? former.bytes : Array(former.bytes[..<count])
    }
}
