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

    /// Returns the same target with another offer.
    func offering(_ offer: UseAsDictionary?) -> AdmissionTarget {
        AdmissionTarget(
            audience: audience, key: key, isProvisional: isProvisional, offer: offer,
            isUpstreamMatch: isUpstreamMatch)
    }
}

// MARK: - From audience to chain

extension RequestedResource {
    /// Returns the target of a response that is admissible; nil if no chain is for it.
    ///
    /// This is the one mapping from an audience to a chain, a URL and a variant.
    ///
    /// - Parameters:
    ///   - own: The upstream's Use-As-Dictionary.
    ///   - isOffered: True if the response carries the route's offer.
    mutating func target(
        for audience: Audience, own: [String] = [], variant: String, isOffered: Bool, _ keys: StoreKeys?
    ) -> AdmissionTarget? {
        // Clients follow the upstream's own field. It has no id of Dictum, so it serves only bodies for all clients.
        guard own.isEmpty || audience == .public else { return nil }
        guard let offer = own.isEmpty ? offer(to: audience) : usableOffer(own),
            let chain = chain(of: offer, for: audience, isOwn: !own.isEmpty, keys)
        else { return nil }
        // Clients that were given the same personal bytes share them, whatever tokens and cookies they sent.
        let isProvisional = audience == .personal && route.policy.scope == .public
        return AdmissionTarget(
            audience: audience,
            key: VersionKey(
                chain: chain, url: isProvisional ? url.path : url.text, variant: isProvisional ? "" : variant),
            isProvisional: isProvisional, offer: own.isEmpty && isOffered ? offer : nil,
            isUpstreamMatch: !own.isEmpty)
    }

    /// Returns the upstream's own offer, its match as clients resolve it (RFC 9842 section 2.1.1); nil if no client can use it,
    /// so that no body is kept for it.
    private func usableOffer(_ values: [String]) -> UseAsDictionary? {
        guard let offer = UseAsDictionary.parse(values), let authority else { return nil }
        let match = ["https", "http"].lazy.compactMap {
            URLPattern.absolute(offer.match, basePath: url.path, origin: "\($0)://\(authority)")
        }.first
        return match.flatMap {
            UseAsDictionary(match: $0, matchDest: offer.matchDest, id: offer.id, ttl: offer.ttl)
        }
    }

    /// Returns the chain of an offer: the upstream's own, or the route's; nil if this request has none.
    ///
    /// A personal response has a provisional one until its body is known.
    private mutating func chain(
        of offer: UseAsDictionary, for audience: Audience, isOwn: Bool, _ keys: StoreKeys?
    ) -> ChainKey? {
        guard route.dictionary != nil, let authority else { return nil }
        if route.policy.scope == .private { return privateChain }
        switch audience {
        case .public where isOwn: return ChainKey(authority: authority, of: offer)
        case .public: return publicChain
        case .unlisted: return unlistedChain
        case .personal: return keys?.provisionalChain(like: ChainKey(authority: authority, of: offer))
        }
    }

    /// Returns the chains, of those that need a proof, in which a client may have been given a body for this resource.
    mutating func chainsForHolders(of digest: Digest, _ keys: StoreKeys, includesPersonal: Bool) -> [ChainKey]
    {
        if route.policy.scope == .private { return privateChain.map { [$0] } ?? [] }
        var chains = unlistedChain.map { [$0] } ?? []
        if includesPersonal, let authority, let offer = offer(to: .personal),
            let chain = keys.personalChain(of: digest, like: ChainKey(authority: authority, of: offer))
        {
            chains.append(chain)
        }
        return chains
    }
}

extension ChainKey {
    /// Makes the key of the public chain of an offer.
    fileprivate init(authority: String, of offer: UseAsDictionary) {
        self.init(authority: authority, match: offer.match, matchDest: offer.matchDest)
    }
}

extension Storage.Version {
    /// Returns true if a response for an audience may be coded over the version: a public response only over a public one, and
    /// only a public response over a learned one.
    ///
    /// Clients choose what a learned dictionary has. The length of a delta over it could tell whether one user's response has
    /// the same. The audience is asked last, since it costs more.
    func serves(_ audience: @autoclosure () -> Audience) -> Bool {
        guard chainKey.scope == .public else { return audience() != .public }
        return !isLearned || audience() == .public
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
