internal import HTTP

/// The heads of an exchange on standard error, as `curl -v` prints them.
enum FetchTranscript {
    /// Prints a request's head.
    static func print(_ head: RequestHead) {
        var bytes: [UInt8] = []
        HeadWriter.write(head, into: &bytes)
        print(bytes, prefix: "> ")
    }

    /// Prints an answer's head.
    static func print(_ head: ResponseHead) {
        var bytes: [UInt8] = []
        HeadWriter.write(head, into: &bytes)
        print(bytes, prefix: "< ")
    }

    /// Lines in the order of the wire, the empty one at the end included; the parser let no control byte through.
    private static func print(_ bytes: [UInt8], prefix: String) {
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        lines.removeLast()
        for line in lines { StandardError.write(prefix + String(decoding: line.dropLast(), as: UTF8.self)) }
    }
}
