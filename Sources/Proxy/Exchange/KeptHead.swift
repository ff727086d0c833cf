internal import Dictionaries
internal import HTTP

/// The head of a stored answer, and the strong tag that the upstream is asked about.
///
/// A class, since every request that may be answered with it takes it along.
final class KeptHead: Sendable {
    let head: ResponseHead
    let tag: EntityTag

    /// Reads what `Revalidation.kept` wrote; nil for bytes that are no such head.
    init?(_ bytes: [UInt8]) {
        var parser = HeadParser(limits: MessageLimits(headBytes: StoredHead.bytesMax + 1))
        guard let head = try? parser.parseResponse(bytes.span), let tag = Revalidation.strongTag(head.headers)
        else { return nil }
        (self.head, self.tag) = (head, tag)
    }
}
