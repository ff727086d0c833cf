internal import Dictionaries

/// A response that a dictionary may be made of, or judged by.
struct TrainingSample: Sendable {
    /// The name of what was asked for: responses of one resource resemble each other more than those of others.
    let resource: String
    let url: PathAndQuery
    let body: Body
    /// True if it was proven to be public: several client addresses got the same bytes.
    var isProven = false
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
            guard digests.insert(sample.body.digest).inserted else { return }
            samples.append(sample)
            bytes += sample.body.count
            return
        }
        leftOut[reason, default: 0] += 1
    }

    /// The bytes of all samples.
    private(set) var bytes = 0

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
    let training: [TrainingSample]
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
            (training, heldOut) = (Array(samples.prefix(older)), samples.dropFirst(older).map(\.body))
            return
        }
        // By a hash: neighbours often resemble each other, and the choice is the same in each run.
        let names = resources.keys.sorted {
            (Digest(of: $0.utf8.span).part, $0) < (Digest(of: $1.utf8.span).part, $1)
        }
        var halves: (training: [TrainingSample], heldOut: [Body]) = ([], [])
        for (place, name) in names.enumerated() {
            let samples = resources[name] ?? []
            if place % 2 == 0 { halves.training += samples } else { halves.heldOut += samples.map(\.body) }
        }
        (training, heldOut) = halves
    }
}
