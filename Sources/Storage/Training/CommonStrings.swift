internal import Dictionaries

/// The strings that the responses of several resources have in common.
///
/// What only a few responses have may be one user's, and is of no use for others.
struct CommonStrings {
    /// The length in bytes of the strings that are counted.
    static let length = 16
    /// The least number of bytes that are missing between two pieces of a body: otherwise pieces could make a string whole
    /// that no piece may have.
    private static let gap = length / 2

    /// The number of resources that have a string, and the last one of them.
    private struct Owners {
        var count: Int32 = 0
        var last: Int32 = -1

        mutating func note(_ resource: Int32) {
            guard last != resource else { return }
            last = resource
            count += 1
        }
    }

    private let resourcesMin: Int
    private var owners: [UInt128: Owners] = [:]

    /// Counts the strings of samples.
    ///
    /// Takes some 50 bytes of memory for each different string.
    init(of samples: [TrainingSample], resourcesMin: Int) {
        self.resourcesMin = resourcesMin
        guard resourcesMin > 1 else { return }
        var numbers: [String: Int32] = [:]
        for sample in samples {
            let number = numbers[sample.resource, default: Int32(clamping: numbers.count)]
            numbers[sample.resource] = number
            Self.forEach(in: sample.body) { _, string in
                owners[string, default: Owners()].note(number)
            }
        }
    }

    /// Returns the pieces of a sample that enough resources have, one behind the other.
    ///
    /// Each string of at most `length` bytes in a piece is in the responses of enough resources; longer ones consist of such.
    func pieces(of sample: TrainingSample) -> Body {
        guard resourcesMin > 1, !sample.isProven else { return sample.body }
        let bytes = sample.body.bytes
        var pieces: [UInt8] = []
        // The piece that grows, and the end of the one before.
        var piece = 0..<0
        var end = -Self.gap
        func close() {
            let start = max(piece.lowerBound, end + Self.gap)
            guard start + Self.gap <= piece.upperBound else { return }
            pieces += bytes[start..<piece.upperBound]
            end = piece.upperBound
        }
        Self.forEach(in: sample.body) { place, string in
            guard let known = owners[string], Int(known.count) >= resourcesMin else { return }
            if place + Self.length == piece.upperBound + 1, !piece.isEmpty {
                piece = piece.lowerBound..<piece.upperBound + 1
            } else {
                close()
                piece = place..<place + Self.length
            }
        }
        close()
        return Body(pieces)
    }

    private static func forEach(in body: Body, _ visit: (_ place: Int, _ string: UInt128) -> Void) {
        var string: UInt128 = 0
        for (place, byte) in body.bytes.enumerated() {
            string = string << 8 | UInt128(byte)
            if place + 1 >= length { visit(place + 1 - length, string) }
        }
    }
}
