internal import Dictionaries

/// The choice of samples that make the best dictionary, one behind the other.
struct SampleChoice: Sendable {
    /// The choices that are made one after the other, and the alternatives of each.
    private static let steps = 20
    private static let alternatives = 16
    /// The number of samples that judge the alternatives.
    private static let judgesMax = 24

    private let judges: [Body]
    private var rest: [Body]
    private let groupCount: Int
    private let bytesMax: Int
    /// The samples that are chosen, the most useful ones last.
    private(set) var content: [UInt8] = []
    /// The bytes of the judges over the content.
    private var judgedBytes = 0

    /// True once there is no room, or no sample left.
    var isWhole: Bool { content.count >= bytesMax || rest.isEmpty }

    /// Sets some samples of all sizes aside as judges: one that judges its own use would find it too good.
    ///
    /// - Parameters:
    ///   - training: The samples that judge.
    ///   - pieces: What may be taken of each.
    init(_ training: [Body], _ pieces: [Body], bytesMax: Int) throws(CodingError) {
        let bySize = training.indices.sorted { (training[$0].count, $0) < (training[$1].count, $1) }
        let judging = Set(
            bySize.indices.spread(atMost: min(Self.judgesMax, max(1, bySize.count / 4))).map { bySize[$0] })
        judges = judging.sorted().map { training[$0] }
        rest = pieces.indices.filter { !judging.contains($0) && pieces[$0].count > 0 }.map { pieces[$0] }
        let bytes = rest.reduce(0) { $0 + $1.count }
        groupCount = max(1, bytesMax * rest.count / max(1, bytes) / Self.steps)
        self.bytesMax = bytesMax
        judgedBytes = try judge([])
    }

    /// Takes the group of samples that lets the judges shrink most for its length.
    ///
    /// So the end of the content is the best dictionary of a smaller size: clients find what is nearest at the lowest cost.
    mutating func takeBest() throws(CodingError) {
        var best: (content: [UInt8], bytes: Int, worth: Double, group: Range<Int>)?
        for number in 0..<Self.alternatives {
            let start = number * groupCount
            guard start < rest.count else { break }
            let group = start..<min(start + groupCount, rest.count)
            let added = rest[group].reduce(into: [UInt8]()) { $0 += $1.bytes }
            let longer = Array((added + content).suffix(bytesMax))
            let bytes = try judge(longer)
            let worth = Double(judgedBytes - bytes) / Double(longer.count - content.count)
            if best.map({ worth > $0.worth }) ?? true { best = (longer, bytes, worth, group) }
        }
        guard let best else { return }
        (content, judgedBytes) = (best.content, best.bytes)
        let tried = min(Self.alternatives * groupCount, rest.count)
        // The next step tries others.
        let kept = rest[..<best.group.lowerBound] + rest[best.group.upperBound..<tried]
        rest = Array(rest[tried...] + kept)
    }

    private func judge(_ content: [UInt8]) throws(CodingError) -> Int {
        var options = EncoderOptions()
        if !content.isEmpty {
            options.dictionary = .prepared(try PreparedDictionary(Body(content), for: .dcz))
        }
        var sum = 0
        for body in judges {
            let bytes = body.bytes
            sum += try Codec.encode(bytes.span, content.isEmpty ? .zstd : .dcz, options: options).count
        }
        return sum
    }
}
