package import Dictionaries

/// Measures the bytes of bodies by the functions that responses go through.
package struct CodedSizes: Sendable {
    private static let plainCodings = [ContentCoding.gzip, .br, .zstd]

    private let levels: CodingLevels
    package let deltas: Deltas

    /// Takes the settings of a configuration.
    package init(levels: CodingLevels = CodingLevels(), preparedBytes: Int, verify: Verification.Mode) {
        self.levels = levels
        deltas = Deltas(preparedBytes: preparedBytes, cacheBytes: 0, verify: verify)
    }

    /// Returns the size in a coding without a dictionary; that of the body if it is no shorter.
    package func plain(_ body: Body, _ coding: ContentCoding) -> Int {
        let options = EncoderOptions(bodyBytes: body.count, level: levels.given(for: coding))
        let bytes = body.bytes
        let coded = try? Codec.encode(bytes.span, coding, options: options)
        return min(body.count, coded?.count ?? body.count)
    }

    /// Returns the size in the best coding without a dictionary.
    package func bestPlain(_ body: Body) -> Int {
        Self.plainCodings.map { plain(body, $0) }.min() ?? body.count
    }

    /// Returns the average size of bodies in the best coding without a dictionary.
    package func averageBestPlain(_ bodies: [Body]) -> Int {
        bodies.reduce(0) { $0 + bestPlain($1) } / max(1, bodies.count)
    }

    /// Returns the size of a delta, its check included.
    package func delta(
        _ body: Body, over dictionary: Body, _ coding: ContentCoding, in scope: DeltaScope = .public
    ) -> Int {
        switch deltas.make(body, over: dictionary, coding, in: scope) {
        case .coded(let delta): delta.bytes.count
        case .notShorter, .failed: body.count
        }
    }

    package func average(of bodies: [Body], over dictionary: Body, _ coding: ContentCoding) -> Int {
        bodies.reduce(0) { $0 + delta($1, over: dictionary, coding, in: .built) } / max(1, bodies.count)
    }
}

extension Range<Int> {
    /// Returns at most so many indices, evenly spread, the last one included.
    package func spread(atMost most: Int) -> [Int] {
        let number = Swift.min(count, most)
        guard number > 1 else { return Array(suffix(1)) }
        return (0..<number).map { lowerBound + $0 * (count - 1) / (number - 1) }
    }
}
