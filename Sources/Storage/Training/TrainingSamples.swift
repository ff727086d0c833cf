package import Dictionaries

/// A response that a dictionary may be made of, or judged by.
package struct TrainingSample: Sendable {
    /// The name of what was asked for: responses of one resource resemble each other more than those of others.
    package let resource: String
    package let url: PathAndQuery
    package let body: Body
    /// True if it was proven to be public: several client addresses got the same bytes.
    package var isProven = false

    package init(resource: String, url: PathAndQuery, body: Body, isProven: Bool = false) {
        (self.resource, self.url, self.body, self.isProven) = (resource, url, body, isProven)
    }

    /// Makes a sample of a version of a store.
    package init(_ version: Version, _ body: Body) {
        let url = PathAndQuery(version.url)
        self.init(
            resource: version.chainKey.authority + url.text, url: url, body: body,
            isProven: version.isProvenPublic)
    }
}

/// The responses that may be samples, and the number of the others by reason.
///
/// A dictionary goes to everybody. A response that belongs to one user is never a sample, whatever the operator says.
package struct TrainingSamples: Sendable {
    package enum Exclusion: String, Encodable, CodingKeyRepresentable, Sendable {
        case credentials, personal, unproven
        case noStore = "no_store"
        case otherPath = "other_path"

        package var text: String {
            switch self {
            case .credentials: "whose request had a credential"
            case .personal: "that say that they belong to one user"
            case .unproven: "that were not proven to be public"
            case .noStore: "with no-store"
            case .otherPath: "of other paths"
            }
        }
    }

    package private(set) var samples: [TrainingSample] = []
    package private(set) var leftOut: [Exclusion: Int] = [:]
    private var digests: Set<Digest> = []
    /// The paths that samples must have; nil for all.
    private let pattern: URLPattern?

    package init(matching pattern: URLPattern?) { self.pattern = pattern }

    /// Adds a response, unless there is a reason against it or another one has the same body.
    package mutating func add(_ sample: TrainingSample, unless exclusion: Exclusion?) {
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
    package private(set) var bytes = 0

    /// The number of different resources.
    package var resourceCount: Int { Set(samples.map(\.resource)).count }

    /// The shapes of the samples' paths, the most frequent first.
    package var shapes: [(pattern: String, count: Int)] {
        Dictionary(grouping: samples) { PathShape.pattern(of: $0.url.path) }
            .map { ($0.key, $0.value.count) }.sorted { ($1.1, $0.0) < ($0.1, $1.0) }
    }
}
