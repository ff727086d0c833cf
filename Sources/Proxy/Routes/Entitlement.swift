internal import Dictionaries
internal import Storage

/// The rights of a request: whose its response is, which chain that belongs to, and which versions its client may use by
/// which proof.
///
/// A public version needs no proof. An unlisted or personal one needs the id under which the client was given it, and one of
/// a private route also the user's identity. Look-up (also at other nodes), admission, observation and offers ask here. A
/// value without I/O.
struct Entitlement: Sendable {
    var facts: RequestFacts
    var resource: RequestedResource

    private var policy: RoutePolicy { resource.route.policy }

    /// Takes the user that the fields of the request or of the response name.
    mutating func identify(as tag: IdentityTag) {
        resource.userScope = .private(tag)
        facts.hasWholeIdentity = true
    }

    // MARK: Whose a response is

    func audience(of response: ResponseFacts) -> Audience {
        Audience.of(request: facts, response: response, policy: policy)
    }

    func personalCause(of response: ResponseFacts) -> Personal.Cause? {
        Personal.cause(request: facts, response: response, policy: policy.personal)
    }

    /// Returns the reason why a response must not become a version; nil if it may.
    func obstacleToAdmission(of response: ResponseFacts) -> Reason? {
        Admission.obstacle(request: facts, response: response, policy: policy)
    }

    /// Returns the reason why a response is not offered as a dictionary; nil if it may be.
    func obstacleToOffer(of response: ResponseFacts) -> Reason? {
        Offer.obstacle(request: facts, response: response, policy: policy)
    }

    /// Returns the same for a response that may become a version.
    func obstacleToOffer(ofAdmissible response: ResponseFacts) -> Reason? {
        Offer.obstacle(request: facts, ofAdmissible: response, policy: policy)
    }

    // MARK: From audience to chain

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
        guard let offer = own.isEmpty ? resource.offer(to: audience) : resource.usableOffer(own),
            let chain = chain(of: offer, for: audience, isOwn: !own.isEmpty, keys)
        else { return nil }
        // Clients that were given the same personal bytes share them, whatever tokens and cookies they sent.
        let isProvisional = audience == .personal && policy.scope == .public
        let url = resource.url
        return AdmissionTarget(
            audience: audience,
            key: VersionKey(
                chain: chain, url: isProvisional ? url.path : url.text, variant: isProvisional ? "" : variant),
            isProvisional: isProvisional, offer: own.isEmpty && isOffered ? offer : nil,
            isUpstreamMatch: !own.isEmpty)
    }

    /// Returns the chain of an offer: the upstream's own, or the route's; nil if this request has none.
    ///
    /// A personal response has a provisional one until its body is known.
    private mutating func chain(
        of offer: UseAsDictionary, for audience: Audience, isOwn: Bool, _ keys: StoreKeys?
    ) -> ChainKey? {
        guard resource.route.dictionary != nil, let authority = resource.authority else { return nil }
        if policy.scope == .private { return resource.privateChain }
        switch audience {
        case .public where isOwn: return ChainKey(authority: authority, of: offer)
        case .public: return resource.publicChain
        case .unlisted: return resource.unlistedChain
        case .personal: return keys?.provisionalChain(like: ChainKey(authority: authority, of: offer))
        }
    }

    // MARK: The client's proof

    var mayUseDictionaries: Bool {
        facts.dictionarySwitch == nil && resource.authority != nil
            && (policy.scope == .public || resource.userScope != nil && mayUseDictionaryOfOneUser)
    }

    private var mayUseDictionaryOfOneUser: Bool { CrossOrigin.allowsDictionaryOfOneUser(request: facts) }

    /// The authority whose public versions the client may use, if their chains cover the URL; nil if it may use none.
    var publicAuthority: String? { policy.scope == .public ? resource.authority : nil }

    /// Returns the chains in which the client has to prove by an id that it was given a body.
    mutating func chainsToProve(of digest: Digest, _ keys: StoreKeys) -> [ChainKey] {
        if policy.scope == .private { return resource.privateChain.map { [$0] } ?? [] }
        var chains = resource.unlistedChain.map { [$0] } ?? []
        if policy.personalUse == .capability, mayUseDictionaryOfOneUser, let authority = resource.authority,
            let offer = resource.offer(to: .personal),
            let chain = keys.personalChain(of: digest, like: ChainKey(authority: authority, of: offer))
        {
            chains.append(chain)
        }
        return chains
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

extension ChainKey {
    /// Makes the key of the public chain of an offer.
    fileprivate init(authority: String, of offer: UseAsDictionary) {
        self.init(authority: authority, match: offer.match, matchDest: offer.matchDest)
    }
}
