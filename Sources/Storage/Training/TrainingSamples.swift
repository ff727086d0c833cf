package import Dictionaries

/// A response that a dictionary may be made of, or judged by.
package struct TrainingSample: Sendable {
    /// The name of what was asked for: responses of one resource resemble each other more than those of others.
    package let resource: String
    /// The host with its port, if that is known.
    package let authority: String?
    package let url: PathAndQuery
    package let body: Body
    /// True if it was proven to be public: several client addresses got the same bytes.
    package var isProven = false

    package init(
        resource: String, authority: String? = nil, url: PathAndQuery, body: Body, isProven: Bool = false
    ) {
        (self.resource, self.authority, self.url) = (resource, authority, url)
        (self.body, self.isProven) = (body, isProven)
    }

    package init(_ version: Version, _ body: Body) {
        let url = PathAndQuery(version.url)
        self.init(
            resource: version.chainKey.authority + url.text, authority: version.chainKey.authority,
            url: url, body: body, isProven: version.isProvenPublic)
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
        case otherHost = "other_host"

        package var text: String {
            switch self {
            case .credentials: "whose request had a credential"
            case .personal: "that say that they belong to one user"
            case .unproven: "that were not proven to be public"
            case .noStore: "with no-store"
            case .otherPath: "of other paths"
            case .otherHost: "of other hosts"
            }
        }
    }

    package private(set) var samples: [TrainingSample] = []
    package private(set) var leftOut: [Exclusion: Int] = [:]
    private var digests: Set<Digest> = []
    /// The paths that samples must have; nil for all.
    private let pattern: URLPattern?
    /// The host that samples must have, as far as theirs is known; it has all hosts without a name.
    private let host: AuthorityNames

    package init(matching pattern: URLPattern?, of host: AuthorityNames = AuthorityNames()) {
        (self.pattern, self.host) = (pattern, host)
    }

    /// Adds a response, unless there is a reason against it or another one has the same body.
    package mutating func add(_ sample: TrainingSample, unless exclusion: Exclusion?) {
        guard let reason = otherRoute(sample) ?? exclusion else {
            guard digests.insert(sample.body.digest).inserted else { return }
            samples.append(sample)
            bytes += sample.body.count
            return
        }
        leftOut[reason, default: 0] += 1
    }

    /// Leaves out the samples of other authorities, if some have exactly this one.
    package mutating func keep(authority: String) {
        let authority = authority.lowercased()
        guard samples.contains(where: { $0.authority == authority }) else { return }
        let count = samples.count
        samples.removeAll { $0.authority != nil && $0.authority != authority }
        bytes = samples.reduce(0) { $0 + $1.body.count }
        if samples.count < count { leftOut[.otherHost, default: 0] += count - samples.count }
    }

    private func otherRoute(_ sample: TrainingSample) -> Exclusion? {
        if let authority = sample.authority, !host.contains(authority) { return .otherHost }
        return pattern?.matches(path: sample.url.path, query: sample.url.query) == false ? .otherPath : nil
    }

    package private(set) var bytes = 0

    package var resourceCount: Int { Set(samples.map(\.resource)).count }

    /// The hosts of the samples, the most frequent first.
    package var hosts: [(name: String, count: Int)] { Self.counts(samples.compactMap(\.authority)) }

    /// The shapes of the samples' paths, the most frequent first.
    package var shapes: [(name: String, count: Int)] {
        Self.counts(samples.map { PathShape.pattern(of: $0.url.path) })
    }

    private static func counts(_ names: [String]) -> [(name: String, count: Int)] {
        Dictionary(grouping: names) { $0 }
            .map { ($0.key, $0.value.count) }.sorted { ($1.1, $0.0) < ($0.1, $1.0) }
    }
}
