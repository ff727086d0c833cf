internal import Dictionaries
internal import Primitives
internal import Storage

/// The average size and processor time of a coding.
struct CodingCost: Encodable, Equatable, Sendable {
    var bytes: Int
    /// The processor time per response, in microseconds.
    var cpuMicroseconds: Double
}

/// The deltas over versions of one age.
struct DeltaCosts: Encodable, Sendable {
    /// The number of versions between dictionary and body: 1 for the version before.
    let versionsBack: Int
    let pairs: Int
    /// The average size of the same bodies in the best coding without a dictionary.
    let plainBytes: Int
    let dcz: DeltaCost
    let dcb: DeltaCost
}

/// The average size and processor time of deltas in one coding.
struct DeltaCost: Encodable, Sendable {
    /// The size over an indexed dictionary; Dictum indexes one on its second use.
    var bytes: Int
    var firstBytes: Int
    var firstCpuMicroseconds: Double
    var indexedCpuMicroseconds: Double
    /// The size after the strongest pass, which Dictum makes for deltas that several clients share; nil if not made.
    var strongestBytes: Int?
}

/// Measures codings with the functions and settings of `serve`.
struct CodingMeasurement {
    /// The numbers of versions between dictionary and body.
    static let distances = [1, 3, 10, 100]
    /// The number of bodies or pairs per figure, evenly spread over the history.
    static let samplesMax = 16
    private static let repetitions = 3

    let sizes: CodedSizes

    /// A result in bytes and its processor time.
    private typealias Timed = (bytes: Int, microseconds: Double)

    /// Measures a coding without a dictionary.
    func plain(_ versions: [Body], _ coding: ContentCoding) -> CodingCost {
        let all = Self.spread(versions.indices).map { place in
            Self.timed { sizes.plain(versions[place], coding) }
        }
        return CodingCost(bytes: Self.meanBytes(all), cpuMicroseconds: Self.meanMicroseconds(all))
    }

    /// Measures deltas over the versions so many before; nil if the history is shorter.
    func deltas(_ versions: [Body], versionsBack: Int) -> DeltaCosts? {
        let places = Self.spread(versionsBack..<max(versionsBack, versions.count))
        guard !places.isEmpty else { return nil }
        let pairs = places.map { (versions[$0 - versionsBack], versions[$0]) }
        return DeltaCosts(
            versionsBack: versionsBack, pairs: pairs.count, plainBytes: bestPlainBytes(pairs.map(\.1)),
            dcz: cost(of: pairs, .dcz), dcb: cost(of: pairs, .dcb)
        )
    }

    /// Returns the average size of dcz over the other bodies of each pair.
    func averageBytes(of pairs: [(Body, Body)]) -> Int {
        let places = Self.spread(pairs.indices)
        guard !places.isEmpty else { return 0 }
        return places.reduce(0) { $0 + sizes.delta(pairs[$1].1, over: pairs[$1].0, .dcz) } / places.count
    }

    /// Returns the average size of some of the bodies in the best coding without a dictionary.
    func bestPlainBytes(_ bodies: [Body]) -> Int {
        sizes.averageBestPlain(Self.spread(bodies.indices).map { bodies[$0] })
    }

    private func cost(of pairs: [(Body, Body)], _ coding: ContentCoding) -> DeltaCost {
        var (first, later): ([Timed], [Timed]) = ([], [])
        for (dictionary, body) in pairs {
            first.append(Self.timedOnce { sizes.delta(body, over: dictionary, coding) })
            // The second use makes the index, if the dictionary is small enough.
            _ = sizes.delta(body, over: dictionary, coding)
            later.append(Self.timed { sizes.delta(body, over: dictionary, coding) })
        }
        return DeltaCost(
            bytes: Self.meanBytes(later), firstBytes: Self.meanBytes(first),
            firstCpuMicroseconds: Self.meanMicroseconds(first),
            indexedCpuMicroseconds: Self.meanMicroseconds(later),
            strongestBytes: strongestBytes(of: pairs, coding))
    }

    private static func meanBytes(_ all: [Timed]) -> Int {
        all.reduce(0) { $0 + $1.bytes } / max(1, all.count)
    }

    private static func meanMicroseconds(_ all: [Timed]) -> Double {
        (all.reduce(0) { $0 + $1.microseconds } / Double(max(1, all.count))).rounded(places: 1)
    }

    private func strongestBytes(of pairs: [(Body, Body)], _ coding: ContentCoding) -> Int? {
        guard pairs.allSatisfy({ max($0.0.count, $0.1.count) <= StrongestPass.bytesMax }) else { return nil }
        var sum = 0
        for (dictionary, body) in pairs {
            let options = EncoderOptions(
                bodyBytes: body.count, effort: .kept, dictionary: .reference(dictionary))
            let bytes = body.bytes
            let coded = try? Codec.encode(bytes.span, coding, options: options)
            sum += min(coded?.count ?? body.count, sizes.delta(body, over: dictionary, coding))
        }
        return sum / pairs.count
    }

    private static func spread(_ range: Range<Int>) -> [Int] { range.spread(atMost: samplesMax) }

    /// Returns the result of work and the least processor time of some repetitions, in microseconds.
    private static func timed(_ work: () -> Int) -> Timed {
        var best = timedOnce(work)
        // Long work needs no repetition.
        for _ in 1..<repetitions where best.microseconds < 20_000 {
            best.microseconds = min(best.microseconds, timedOnce(work).microseconds)
        }
        return best
    }

    private static func timedOnce(_ work: () -> Int) -> Timed {
        let begin = SystemClock.threadNanoseconds
        let bytes = work()
        return (bytes, Double(SystemClock.threadNanoseconds - begin) / 1000)
    }
}

extension Int {
    /// Rounds a number; what no amount of bytes or seconds reaches becomes 10^18, and no number at all 0.
    init(bounding value: Double) {
        self = value.isNaN ? 0 : Int(Swift.min(Swift.max(value, -1e18), 1e18).rounded())
    }
}

extension Double {
    func rounded(places: Int) -> Double {
        var factor = 1.0
        for _ in 0..<places { factor *= 10 }
        return (self * factor).rounded() / factor
    }
}
