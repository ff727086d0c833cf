internal import Dictionaries

/// A response that a dictionary may be made of, or judged by.
struct TrainingSample: Sendable {
    /// The name of what was asked for: responses of one resource resemble each other more than those of others.
    let resource: String
    let url: PathAndQuery
    let body: Body
}

/// The responses that may be samples, and the number of the others by reason.
///
/// A dictionary goes to everybody. A response that belongs to one user is never a sample, whatever the operator says.
struct TrainingSamples: Sendable {
    enum Exclusion: String, Encodable, CodingKeyRepresentable, Sendable {
        case credentials, personal, unproven
        case noStore = "no_store"
        case otherPath = "other_path"

        var text: String {
            switch self {
            case .credentials: "whose request had Authorization or a cookie"
            case .personal: "that say that they belong to one user"
            case .unproven: "that were not proven to be public"
            case .noStore: "with no-store"
            case .otherPath: "of other paths"
            }
        }
    }

    private(set) var samples: [TrainingSample] = []
    private(set) var leftOut: [Exclusion: Int] = [:]
    private var digests: Set<Digest> = []
    /// The paths that samples must have; nil for all.
    private let pattern: URLPattern?

    init(matching pattern: URLPattern?) { self.pattern = pattern }

    /// Adds a response, unless there is a reason against it or another one has the same body.
    mutating func add(_ sample: TrainingSample, unless exclusion: Exclusion?) {
        let isOther = pattern.map { !$0.matches(path: sample.url.path, query: sample.url.query) } ?? false
        guard let reason = isOther ? .otherPath : exclusion else {
            if digests.insert(sample.body.digest).inserted { samples.append(sample) }
            return
        }
        leftOut[reason, default: 0] += 1
    }

    /// The number of different resources.
    var resourceCount: Int { Set(samples.map(\.resource)).count }

    /// The shapes of the samples' paths, the most frequent first.
    var shapes: [(pattern: String, count: Int)] {
        Dictionary(grouping: samples) { PathShape.pattern(of: $0.url.path) }
            .map { ($0.key, $0.value.count) }.sorted { ($1.1, $0.0) < ($0.1, $1.0) }
    }
}

/// The samples that a dictionary is made of, and those that judge it: it has not seen them.
struct SampleSplit: Sendable {
    let training: [Body]
    let heldOut: [Body]

    /// The least number of samples in each half.
    static let countMin = 4

    /// Halves the samples; nil if they are too few.
    ///
    /// All responses of a resource go into one half, since a version says too much about the next. With few resources, the
    /// older responses of all are trained on, and the newer ones held out.
    init?(_ samples: [TrainingSample]) {
        let resources = Dictionary(grouping: samples, by: \.resource)
        guard resources.count >= 2 * Self.countMin else {
            let older = samples.count / 2
            guard older >= Self.countMin else { return nil }
            (training, heldOut) = (samples.prefix(older).map(\.body), samples.dropFirst(older).map(\.body))
            return
        }
        // By a hash: neighbours often resemble each other, and the choice is the same in each run.
        let names = resources.keys.sorted {
            (Digest(of: $0.utf8.span).part, $0) < (Digest(of: $1.utf8.span).part, $1)
        }
        var halves: (training: [Body], heldOut: [Body]) = ([], [])
        for (place, name) in names.enumerated() {
            let bodies = resources[name]?.map(\.body) ?? []
            if place % 2 == 0 { halves.training += bodies } else { halves.heldOut += bodies }
        }
        (training, heldOut) = halves
    }
}

/// The choice of whole samples that make the best dictionary, one behind the other.
struct SampleChoice {
    /// The choices that are made one after the other, and the alternatives of each.
    private static let steps = 20
    private static let alternatives = 16
    /// The number of samples that judge the alternatives.
    private static let judgesMax = 24

    private let judges: [Body]
    private var rest: [Body]
    private let groupCount: Int
    private let bytesMax: Int
    private var content: [UInt8] = []

    private init(_ training: [Body], bytesMax: Int) {
        let bySize = training.sorted { $0.count < $1.count }
        judges = CodingMeasurement.spread(bySize.indices, atMost: Self.judgesMax).map { bySize[$0] }
        rest = training
        let bytes = training.reduce(0) { $0 + $1.count }
        groupCount = max(1, bytesMax * training.count / max(1, bytes) / Self.steps)
        self.bytesMax = bytesMax
    }

    /// Returns samples of at most so many bytes, the most useful ones last.
    ///
    /// Each step takes the group of samples that lets the judges shrink most behind it. So the end of the content is
    /// the best dictionary of a smaller size: clients find what is nearest at the lowest cost.
    static func content(of training: [Body], bytesMax: Int) throws(CodingError) -> [UInt8] {
        var choice = SampleChoice(training, bytesMax: bytesMax)
        while choice.content.count < bytesMax, !choice.rest.isEmpty { try choice.takeBest() }
        return choice.content
    }

    private mutating func takeBest() throws(CodingError) {
        var best: (content: [UInt8], bytes: Int, group: Range<Int>)?
        for number in 0..<Self.alternatives {
            let start = number * groupCount
            guard start < rest.count else { break }
            let group = start..<min(start + groupCount, rest.count)
            let added = rest[group].reduce(into: [UInt8]()) { $0 += $1.bytes }
            let content = Array((added + content).suffix(bytesMax))
            let bytes = try judge(content)
            if best.map({ bytes < $0.bytes }) ?? true { best = (content, bytes, group) }
        }
        guard let best else { return }
        content = best.content
        let tried = min(Self.alternatives * groupCount, rest.count)
        // The next step tries others.
        let kept = rest[..<best.group.lowerBound] + rest[best.group.upperBound..<tried]
        rest = Array(rest[tried...] + kept)
    }

    private func judge(_ content: [UInt8]) throws(CodingError) -> Int {
        let dictionary = DictionaryUse.prepared(try .zstd(Body(content)))
        var sum = 0
        for body in judges {
            let bytes = body.bytes
            sum += try Codec.encode(bytes.span, .dcz, options: EncoderOptions(dictionary: dictionary)).count
        }
        return sum
    }
}
