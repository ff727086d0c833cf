internal import Dictionaries
internal import Storage

/// The chain, URL and variant that a body belongs to, and what a response offers for it.
///
/// A class, so that a response holds one reference, which is nil for most.
final class AdmissionTarget: Sendable {
    /// The clients that may use the body as a dictionary.
    let audience: Audience
    let key: VersionKey
    /// True if the chain stands for the one that only the whole body tells.
    let isProvisional: Bool
    /// The offer, with its id once that is known; nil where the upstream offers the body itself.
    let offer: UseAsDictionary?
    /// True if the upstream named the chain itself.
    let isUpstreamMatch: Bool

    init(
        audience: Audience, key: VersionKey, isProvisional: Bool, offer: UseAsDictionary?,
        isUpstreamMatch: Bool
    ) {
        self.audience = audience
        self.key = key
        self.isProvisional = isProvisional
        self.offer = offer
        self.isUpstreamMatch = isUpstreamMatch
    }

    /// True if a response gives its client the body as a dictionary: by Dictum's offer, or by the upstream's own.
    var isOffered: Bool { offer != nil || isUpstreamMatch }

    /// Returns the target of a whole body, with the chain and the id that only the body tells; nil if that needs keys, and
    /// the store has none.
    func settled(_ digest: Digest, _ keys: StoreKeys?) -> AdmissionTarget? {
        guard audience != .public else { return self }
        guard let keys else { return nil }
        var key = key
        if isProvisional {
            guard let chain = keys.personalChain(of: digest, like: key.chainKey) else { return nil }
            key.chainKey = chain
        }
        return AdmissionTarget(
            audience: audience, key: key, isProvisional: false,
            offer: offer?.with(id: keys.dictionaryID(of: digest, in: key.chainKey)),
            isUpstreamMatch: isUpstreamMatch)
    }

    func offering(_ offer: UseAsDictionary?) -> AdmissionTarget {
        AdmissionTarget(
            audience: audience, key: key, isProvisional: isProvisional, offer: offer,
            isUpstreamMatch: isUpstreamMatch)
    }
}

extension Route {
    /// Returns the terms of the store: personal versions have a budget of their own, and no probation among public ones.
    func admission(to chain: ChainKey, from address: UInt128?) -> AdmissionPolicy {
        var policy = admission
        if chain.scope.isSealed {
            policy.startsInProbation = false
            policy.network = Self.network(of: address)
        }
        return policy
    }

    /// The number of a client's network; nil if its address is unknown.
    ///
    /// The hash has a seed per process, so clients cannot choose an address that shares another's number.
    static func network(of address: UInt128?) -> UInt16? {
        address.map { UInt16(truncatingIfNeeded: $0.hashValue) }
    }
}
