internal import HTTP

/// Prints the heads of an exchange on standard error, in the form of `curl -v`.
enum FetchTranscript {
    static func print(_ head: RequestHead) {
        var bytes: [UInt8] = []
        HeadWriter.write(head, into: &bytes)
        print(bytes, prefix: "> ")
    }

    static func print(_ head: ResponseHead) {
        var bytes: [UInt8] = []
        HeadWriter.write(head, into: &bytes)
        print(bytes, prefix: "< ")
    }

    /// Prints the lines of a head, including the empty one; the parser has excluded control characters.
    private static func print(_ bytes: [UInt8], prefix: String) {
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        lines.removeLast()
        for line in lines { StandardError.write(prefix + String(decoding: line.dropLast(), as: UTF8.self)) }
    }
}
