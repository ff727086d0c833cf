internal import Dictionaries

/// The bodies of the judge's resources, plain and coded; pure.
struct JudgeBodies: Sendable {
    private static let damagedOffset = 10
    private static let bombBytes = 320 << 20

    private let bodies: [String: Body]
    private let paths: [Digest: String]

    init(_ steps: [Step]) {
        bodies = Dictionary(
            steps.map { ($0.path, Body(Self.plain($0.path, bytes: $0.bytes))) },
            uniquingKeysWith: { one, _ in one })
        paths = Dictionary(uniqueKeysWithValues: bodies.map { ($1.digest, $0) })
    }

    subscript(path: String) -> Body? { bodies[path] }

    func path(of digest: Digest) -> String? { paths[digest] }

    /// Some KiB that resources share, and the path; or that again and again.
    private static func plain(_ path: String, bytes: Int?) -> [UInt8] {
        let lines = (0..<120).map { "{\"item\": \($0), \"text\": \"entry \($0 &* 7919 % 1009)\"}\n" }
        let once = Array("{\"path\": \"\(path)\"}\n\(lines.joined())".utf8)
        guard let bytes else { return once }
        var all: [UInt8] = []
        all.reserveCapacity(bytes)
        while all.count < bytes { all.append(contentsOf: once.prefix(bytes - all.count)) }
        return all
    }

    /// Returns a response over a dictionary, as the step wants it; nil if the coding cannot do that.
    static func coded(
        _ body: Body, _ coding: ContentCoding, over dictionary: Body, as response: Step.Response
    ) -> [UInt8]? {
        let options = EncoderOptions(dictionary: .reference(dictionary))
        let bytes = body.bytes
        guard var delta = try? Codec.encode(bytes.span, coding, options: options) else { return nil }
        let header = delta.prefix(DictionaryHeader.dczBytes)
        switch response {
        case .window(let log): return coding == .dcz ? header + ZstdFrame.raw(bytes, windowLog: log) : nil
        case .damaged(.bomb):
            return coding == .dcz ? header + ZstdFrame.zeros(count: bombBytes, windowLog: 23) : nil
        // A stream of Brotli has no checksum.
        case .damaged(.checksum) where coding == .dcb: return nil
        case .damaged(.checksum): delta[delta.count - 1] ^= 1
        case .damaged(.hash): delta[damagedOffset] ^= 1
        case .damaged(.cutOff): delta.removeLast(9)
        case .body, .damaged(.brokenOff), .unasked, .redirect, .missing: break
        }
        return delta
    }
}

/// Zstandard frames that no encoder would make (RFC 8878 section 3.1.1), without checksum and length.
private enum ZstdFrame {
    private static let blockBytesMax = 128 << 10
    private static let rawBlock = 0
    private static let repeatedBlock = 1

    static func raw(_ body: [UInt8], windowLog: Int) -> [UInt8] {
        head(windowLog) + blocks(of: body.count, rawBlock) { body[$0] }
    }

    static func zeros(count: Int, windowLog: Int) -> [UInt8] {
        head(windowLog) + blocks(of: count, repeatedBlock) { _ in [0] }
    }

    private static func head(_ windowLog: Int) -> [UInt8] {
        [0x28, 0xb5, 0x2f, 0xfd, 0, UInt8(windowLog - 10) << 3]
    }

    private static func blocks(
        of count: Int, _ type: Int, _ content: (Range<Int>) -> ArraySlice<UInt8>
    ) -> [UInt8] {
        stride(from: 0, to: count, by: blockBytesMax).flatMap { start in
            let end = min(start + blockBytesMax, count)
            let head = (end - start) << 3 | type << 1 | (end == count ? 1 : 0)
            return [UInt8(head & 0xff), UInt8(head >> 8 & 0xff), UInt8(head >> 16)] + content(start..<end)
        }
    }
}
