internal import Dictionaries
internal import Primitives

/// A body that is collected before the head goes out, so that the response can be decided by all of it.
///
/// While it repeats a body in memory it is compared instead. Its memory is lent all the same: for its coded form, and because
/// the store may drop the other body.
///
/// The hold ends when the body is complete, when it is older than `millisecondsMax` (`Exchange.setHoldDeadline` sets
/// the deadline, `ResponseBody.deadlinePassed` ends the hold), or when `checkSize` finds it too large for the route or for memory.
struct HeldBody: ~Copyable {
    static let millisecondsMax: Int64 = 25

    /// A body as the upstream coded it, kept while it is held decoded.
    struct Original {
        let coding: ContentCoding
        /// True if the client accepts that coding.
        let isAccepted: Bool
        var bytes: [UInt8] = []
    }

    /// Bodies that grow so much by decoding are worth little: they are held and copied up to `inflatedBytesMax`.
    private static let inflationMax = 100
    private static let inflatedBytesMax = 1 << 20

    /// The body as far as it has come, if it repeats none; decoded if it is decoded for the client.
    private var collected: [UInt8] = []
    /// The body as far as it has come, while it may be one again that is in memory.
    private var repeated: RepeatedBody?
    var original: Original?
    var isWhole = false
    /// True if the exchange has yet to be asked to prepare the response.
    var asksToPrepare = false
    /// True once the body is too large or too late to be held.
    var mustStream = false
    private let bytesMax: Int
    private let share: MemoryShare
    private var memory: MemoryLoan?

    /// Begins with nothing; `count` tells the length if it is known, and `former` the body that may come again.
    init(
        expecting count: Int?, bytesMax: Int, memory share: MemoryShare, original: Original? = nil,
        repeating former: Body? = nil
    ) {
        self.bytesMax = bytesMax
        self.share = share
        self.original = original
        repeated = former.map { RepeatedBody(former: $0) }
        if let count { _ = share.resize(&memory, to: count) }
        if former == nil { collected.reserveCapacity(memory?.bytes ?? 0) }
    }

    /// Begins with a whole body that is in memory anyway; the loan is for its coded form.
    init(whole bytes: [UInt8], memory share: MemoryShare) {
        collected = bytes
        self.share = share
        bytesMax = bytes.count
        isWhole = true
        asksToPrepare = true
        memory = MemoryLoan(bytes.count, from: share)
    }

    /// The body as far as it has come, decoded if it is decoded for the client; without what it repeats, until it is
    /// whole or `collect` is called.
    var bytes: [UInt8] { former?.bytes ?? collected }

    /// The body in memory that this one, being whole, is again.
    var former: Body? { repeated.flatMap { $0.isWhole ? $0.former : nil } }

    var count: Int { repeated?.count ?? collected.count }

    /// True if there is no memory for another form of the body.
    var lacksMemory: Bool { memory == nil && count > 0 }

    /// Returns true if decoding made a body so much larger that it is not worth a place in the store.
    static func isInflated(bytes: Int, from received: Int) -> Bool { bytes > inflationMax * received }

    mutating func append(_ piece: Span<UInt8>) {
        guard repeated?.take(piece) != true else { return }
        collect()
        collected.append(piece)
    }

    mutating func append(from removal: inout CodingRemoval?) throws(CodingRemoval.Failure) {
        try removal?.decodePiece(into: &collected, takesAll: false)
    }

    /// Copies the beginning that the two bodies share: they differ from here on, or the body is about to be streamed.
    mutating func collect() {
        guard let beginning = repeated.take() else { return }
        collected.reserveCapacity(max(memory?.bytes ?? 0, beginning.count))
        beginning.append(to: &collected)
    }

    /// Checks the limits after a piece has come: a body beyond them must be streamed.
    mutating func checkSize(isInflated: Bool) {
        let total = count + (original?.bytes.count ?? 0)
        let reserved = memory?.bytes ?? 0
        let isWithinMemory = total <= reserved || share.resize(&memory, to: reserved + max(total, 64 * 1024))
        if count > (isInflated ? Self.inflatedBytesMax : bytesMax) || !isWithinMemory {
            mustStream = true
        }
    }

    /// Hands over the memory, cut to so many bytes if that is less.
    mutating func takeMemory(upTo count: Int = .max) -> MemoryLoan? {
        if let reserved = memory?.bytes, count < reserved { _ = share.resize(&memory, to: count) }
        return memory.take()
    }
}

/// A body on its way that has been, so far, the beginning of one in memory of the same length: nothing of it has to be
/// collected.
///
/// Most responses that a client holds a version for are the newest version again. Comparing each piece where it was
/// received spares a copy of the whole.
struct RepeatedBody {
    let former: Body
    private(set) var count = 0

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
