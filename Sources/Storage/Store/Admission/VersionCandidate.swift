package import Dictionaries

/// A complete body that may become a version, with the facts of its response.
package struct VersionCandidate: Sendable {
    package let body: Body
    package let key: VersionKey
    package let policy: AdmissionPolicy
    /// The opaque-tag of the response's entity tag.
    package var etag: String?
    package var contentType: String?
    /// True if the upstream's own Use-As-Dictionary named the chain, and not the route.
    package var isUpstreamMatch: Bool
    /// The response head, if the upstream can be asked to revalidate.
    package var head: [UInt8]?

    package init(
        _ body: Body, key: VersionKey, policy: AdmissionPolicy, etag: String? = nil,
        contentType: String? = nil, isUpstreamMatch: Bool = false, head: [UInt8]? = nil
    ) {
        self.body = body
        self.key = key
        self.policy = policy
        self.etag = etag
        self.contentType = contentType
        self.isUpstreamMatch = isUpstreamMatch
        self.head = head
    }

    /// The facts of the version that it would make, under their names in its scope.
    func facts(_ keys: StoreKeys?) -> VersionFacts {
        VersionFacts(
            digest: body.digest, url: key.url, etag: etag, bytes: body.bytes.count,
            traits: VersionTraits(
                variant: key.variant, contentType: contentType,
                maxAge: min(max(policy.maxAge, 0), Version.secondsMax), isUpstreamMatch: isUpstreamMatch)
        ).named(in: key.chainKey.scope, keys)
    }
}

/// The settings of a route that its responses' versions are admitted by.
package struct AdmissionPolicy: Sendable, Equatable {
    package var versions: Int
    /// The seconds that a version is kept after it was last wanted.
    package var maxAge: Int
    /// True if new chains start in probation, as those of the implied route do: within a share of the store,
    /// and evicted first, until they have had `Chain.requestsToEstablish`.
    package var startsInProbation: Bool
    /// The number of the client network that a private version is for; networks may share one.
    ///
    /// Nil stands for any network.
    package var network: UInt16?

    /// Makes a policy; a route of the configuration gives all of these.
    package init(
        versions: Int = 16, maxAge: Int = 30 * 86_400, startsInProbation: Bool = false, network: UInt16? = nil
    ) {
        self.versions = versions
        self.maxAge = maxAge
        self.startsInProbation = startsInProbation
        self.network = network
    }
}

/// A reason not to admit a body: it becomes no version, and its response carries no offer.
///
/// A body of unknown length may lose its slot after its offer was sent. The response itself goes on, as a
/// delta where that is possible.
package enum AdmissionRefusal: String, Error, CaseIterable, Sendable {
    /// The body is larger than the store, or the share for chains in probation, can take.
    case size
    /// `memory.store` is full of copies and of bodies that are not on disk yet.
    case memory
    /// `store.write_rate` is used up.
    case rate
    /// Another response with the same key is being copied.
    case copying
    /// URL and variant are so long that they would take more space than the body is worth.
    case names
    /// Versions of its kind were purged while it was on its way.
    case purged
    /// A successor takes the store over; the body can be admitted there at its next request.
    case leaving
}
