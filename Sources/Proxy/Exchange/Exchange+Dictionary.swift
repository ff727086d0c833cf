internal import Dictionaries
internal import HTTP
internal import Primitives
internal import Storage

// MARK: - The client's dictionary is found

extension Exchange {
    /// Looks up the dictionary that the client offers, and has it read while the upstream works.
    func findDictionary() {
        guard let digest = facts.availableDictionary, entitlement.mayUseDictionaries else { return }
        obtain(digest) { $0.dictionaryChanged(to: $1) }
    }

    /// Takes what has become of the dictionary, unless the response has given it up; one that waited for it goes on.
    func dictionaryChanged(to state: DictionaryState) {
        switch dictionary {
        case .none, .asked, .loading: dictionary = state
        case .unknown, .cold, .ready: return
        }
        if body.isHeld, !state.isLoading { dictionarySettled() }
    }

    /// Goes on with a response that waited for the dictionary.
    func dictionarySettled() {
        body.dictionarySettled()
        advance()
    }

    func heedSwitch() { facts.dictionarySwitch = switchedOff(on: route) ?? holdoutReason }

    /// Returns the reason why no client gets dictionaries of a route just now, or nil.
    func switchedOff(on route: Route) -> Reason? {
        context.areDictionariesOff
            ? .switchedOff : route.dictionarySwitch ?? (isAuthorityOff ? .authorityOff : nil)
    }

    /// True if responses of the request's host never become dictionaries.
    var isAuthorityOff: Bool {
        guard context.limitsAuthorities, let authority = resource.authority else { return false }
        return !context.authorities.contains(authority)
    }

    // MARK: A version and its body, wherever they are

    /// The wait for a body from another node or from the disk, for requests that cannot go on without it.
    ///
    /// A disk that hangs must not keep them: an upload's dictionary counts as unknown then, since the client has the plain
    /// body, and a dictionary's own URL is unavailable.
    static let lookUpMilliseconds: Int64 = 2_000

    /// Called with the state of a dictionary as it changes: at once, and for as long as it is awaited.
    typealias DictionaryReport = @Sendable (Exchange, DictionaryState) -> Void

    /// Finds the version of a digest that the request may use, and its body: in memory, on disk or at another node.
    ///
    /// Both a response and a request's body ask here. `usableVersion` then says if the response's audience may have it.
    func obtain(_ digest: Digest, _ report: @escaping DictionaryReport) {
        guard entitlement.mayUseDictionaries else { return report(self, .unknown) }
        if let version = knownVersion(digest) { return read(version, report) }
        if let shared = context.sharedStore, ask(shared, for: digest, report) { return report(self, .asked) }
        context.store.demand.countUnknown()
        report(self, .unknown)
    }

    /// Reads the body of a version, on another thread if it is not in memory.
    func read(_ version: Storage.Version, _ report: @escaping DictionaryReport) {
        if let body = context.store.hotBody(of: version) { return report(self, .ready(version, body)) }
        report(self, .loading(version))
        let exchange = ExchangeReference(self)
        context.store.load(version) { body in
            exchange.perform { report($0, body.map { .ready(version, $0) } ?? .cold(version)) }
        }
    }

    /// Returns the version of a digest that the request may use and this node has, and notes that a client holds it.
    private func knownVersion(_ digest: Digest) -> Storage.Version? {
        guard entitlement.mayUseDictionaries,
            let version = publicVersion(digest) ?? builtVersion(digest) ?? provenVersion(digest)
        else { return nil }
        context.store.demand.advertised(version, now: SystemClock.unixSeconds)
        recordUser(of: version)
        return version
    }

    /// Asks the shared store for a dictionary that is unknown here; returns false if it is not asked.
    ///
    /// The upstream works meanwhile. A client that proves nothing asks for public versions only. The rule that judges the
    /// versions of this node also judges what has come.
    private func ask(_ shared: SharedStore, for digest: Digest, _ report: @escaping DictionaryReport) -> Bool
    {
        guard let name = sharedName(of: digest, in: shared) else { return false }
        let exchange = ExchangeReference(self)
        return shared.ask(name, for: linkClient.address ?? 0, on: core) { _ in
            exchange.perform { exchange in
                // Given up meanwhile: the version is neither noted nor read for nobody.
                guard exchange.dictionary.isLoading || exchange.isFindingUploadDictionary else { return }
                if let version = exchange.knownVersion(digest) { return exchange.read(version, report) }
                exchange.context.store.demand.countUnknown()
                report(exchange, .unknown)
            }
        }
    }

    private func sharedName(of digest: Digest, in shared: SharedStore) -> SharedName? {
        if let proof = proof(of: digest) { return shared.name(of: digest, in: proof.chain) }
        guard let authority = entitlement.publicAuthority else { return nil }
        return shared.find(digest, authority: authority, url: resource.url, ownChain: resource.publicChain)
    }

    // MARK: Versions for all clients, and for clients that prove that they were given them

    /// Returns the version of this digest that all clients may use.
    private func publicVersion(_ digest: Digest) -> Storage.Version? {
        guard let authority = entitlement.publicAuthority else { return nil }
        return proxy.index.find(
            digest: digest, authority: authority, url: resource.url, ownChain: resource.publicChain)
    }

    /// Returns the route's built dictionary, if that is what the client has: an app may be shipped with it.
    private func builtVersion(_ digest: Digest) -> Storage.Version? {
        guard let built = route.dictionary?.built, built.body?.digest == digest,
            let chain = resource.authority.flatMap(route.builtChain)
        else { return nil }
        return context.linkRegistry.version(
            of: built, in: chain, route.admission, index: proxy.index, now: SystemClock.unixSeconds)
    }

    /// The version that the client holds no longer once it is offered another: a built dictionary stays with it.
    var replaceableVersion: Storage.Version? {
        dictionary.version.flatMap { route.hasBuilt($0) ? nil : $0 }
    }

    /// Returns the version that the request names and proves to have been given, of the chains of this resource that need a
    /// proof.
    ///
    /// Versions are looked up only after the proof, so that the time does not reveal them: without a proof a digest
    /// that others hold costs the same work as an unknown one.
    private func provenVersion(_ digest: Digest) -> Storage.Version? {
        guard let proof = proof(of: digest),
            let version = proxy.index.version(chain: proof.chain, digest: digest)
        else { return nil }
        // From now on the id stands in the version's row here, too.
        if let promise = proof.foreign { context.store.admission.keep(promise, of: version) }
        return version
    }

    /// The chain in which a client was given a body, as the id of its request proves.
    private struct Proof {
        let chain: ChainKey
        /// The announcement of the id, if another node gave it out and no version of this node has it.
        var foreign: PromisedIDs.Promise?
    }

    private func proof(of digest: Digest) -> Proof? {
        guard let id = facts.dictionaryID, let keys = context.store.keys else { return nil }
        var proven: Proof?
        // `mayUseDictionaries` has said that the request may use the chain of a private route.
        let chains = entitlement.chainsToProve(of: digest, keys)
        // Try all of them, even after a match, so that the time does not depend on it.
        for chain in chains where StoreKeys.areEqual(id, keys.dictionaryID(of: digest, in: chain)) {
            proven = Proof(chain: chain)
        }
        if proven != nil { return proven }
        for chain in chains {
            guard let tag = keys.promisedTag(of: id, digest, in: chain) else { continue }
            if proxy.index.isPromised(tag, of: digest, in: chain) {
                proven = Proof(chain: chain)
            } else if let promise = context.sharedStore?.promise(tag) {
                proven = Proof(chain: chain, foreign: promise)
            }
        }
        return proven
    }

    // MARK: The dictionary of a response

    func dictionaryFound(for response: ResponseFacts) -> DictionaryLookUp {
        guard dictionary.version == nil || usableVersion(for: response) != nil else { return .unknown }
        if case .found = dictionary.found, dictionary.version.map(route.hasBuilt) == true { return .built }
        return dictionary.found
    }

    /// Returns the version that the client named, if a response may be coded over it.
    func usableVersion(for response: ResponseFacts) -> Storage.Version? {
        dictionary.version.flatMap { $0.serves(entitlement.audience(of: response)) ? $0 : nil }
    }
}

enum DictionaryState {
    /// The request offers no dictionary, or may not use one.
    case none
    /// No version that the request may use has this digest.
    case unknown
    /// The shared store is asked for a version with this digest.
    case asked
    /// The body is being read from disk.
    case loading(Version)
    /// The body could not be read in time.
    case cold(Version)
    case ready(Version, Body)

    /// The state as the negotiation needs it.
    var found: DictionaryLookUp {
        switch self {
        case .none: .noneOffered
        case .unknown, .asked: .unknown
        case .loading, .cold: .cold
        case .ready(_, let body) where !DictionaryFit.dcbIsPossible(dictionaryBytes: body.count): .unknown
        case .ready(_, let body):
            .found(prefersDcb: DictionaryFit.prefersDcb(dictionary: body))
        }
    }

    var version: Version? {
        switch self {
        case .none, .unknown, .asked: nil
        case .loading(let version), .cold(let version), .ready(let version, _): version
        }
    }

    var body: Body? {
        if case .ready(_, let body) = self { body } else { nil }
    }

    var isLoading: Bool {
        switch self {
        case .loading, .asked: true
        case .none, .unknown, .cold, .ready: false
        }
    }

    mutating func giveUp() {
        switch self {
        case .loading(let version): self = .cold(version)
        case .asked: self = .unknown
        case .none, .unknown, .cold, .ready: break
        }
    }
}
