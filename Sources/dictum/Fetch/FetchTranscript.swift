internal import HTTP

/// Prints the heads of an exchange on standard error, in the form of `curl -v`.
enum FetchTranscript {
    static func print(_ head: RequestHead, _ version: HTTPVersion) {
        var bytes: [UInt8] = []
        HeadWriter.write(head, into: &bytes)
        let target = String(decoding: head.target.pathAndQuery, as: UTF8.self)
        let line = "\(head.method.text) \(target) \(version.shortText)"
        print(bytes, startLine: version == .http2 ? line : nil, prefix: "> ")
    }

    static func print(_ head: ResponseHead) {
        var bytes: [UInt8] = []
        HeadWriter.write(head, into: &bytes)
        // HTTP/2 has no phrase.
        let line = "\(head.version.shortText) \(head.status.rawValue)"
        print(bytes, startLine: head.version == .http2 ? line : nil, prefix: "< ")
    }

    static func print(trailers: Headers) {
        var bytes: [UInt8] = []
        trailers.write(into: &bytes)
        print(bytes, startLine: nil, prefix: "< ")
    }

    /// Prints the lines of a head, including the empty one; the parser has excluded control characters.
    private static func print(_ bytes: [UInt8], startLine: String?, prefix: String) {
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { String(decoding: $0.dropLast(), as: UTF8.self) }
        lines.removeLast()
        if let startLine { lines[0] = startLine }
        for line in lines { StandardError.write(prefix + line) }
    }
}

extension HTTPVersion {
    var shortText: String { self == .http2 ? "HTTP/2" : "\(text)" }
}
