internal import Dictionaries
internal import HTTP
internal import Primitives
internal import Storage

// MARK: - Public bodies are proven, and pages announce dictionaries

extension Exchange {
    /// Returns true if the response is a document: browsers follow its Links.
    func isDocument(_ contentType: String?) -> Bool {
        guard let destination = request.headers.first(.secFetchDest) else {
            return MediaTypes.isDocument(contentType)
        }
        return destination == "document" || destination == "iframe"
    }

    // MARK: Public bodies

    /// Notes that a body of a chain goes to a client, if its response says that it is public and sets no cookie.
    func notePublic(_ body: Body, _ response: UpstreamResponse) {
        // The URL of a body that is proven to be public has no content of a request.
        guard facts.method == .get, let target = response.target, target.key.chainKey.scope == .public,
            context.routes.mayName(route), response.facts.setCookieNames.isEmpty,
            let dictionary = route.dictionary
        else { return }
        let now = SystemClock.unixSeconds
        let sighting = LinkRegistry.Sighting(
            body: body, chain: target.key.chainKey, variant: target.key.variant, url: target.key.url,
            keptSeconds: keptSeconds(response), client: isRequestOfAnybody ? linkClient : nil, source: source,
            built: builtChain(of: route, authority: target.key.chainKey.authority))
        if sighting.source != nil { resource.fetchedAfterPage = sighting.announced.hashValue }
        let (isProven, isTimeToAsk) = context.linkRegistry.record(sighting, now: now)
        if isTimeToAsk { askAboutSoleClient() }
        // Of the time before a restart only the store knows what is proven.
        if isProven || route.learnsBuilt,
            let version = proxy.index.version(target.key, digest: body.digest),
            isProven || version.isProvenPublic
        {
            context.store.demand.provePublic(version)
            if route.learnsBuilt, let chain = route.builtChain(authority: version.chainKey.authority) {
                context.learned.noteProven(version, of: chain)
            }
        }
        context.linkRegistry.consider(
            sighting, index: proxy.index, lifeSeconds: dictionary.linkLifeSeconds, now: now)
    }

    /// Notes the bytes that a fetch after a page has cost its client, once it has been sent.
    func noteFetchAfterPage() {
        // What a client has not taken whole has cost it less than it seems.
        guard let chain = resource.fetchedAfterPage, record.isComplete, let address = linkClient.address
        else { return }
        let (bytes, now) = (record.bodyBytesSent - client.stuckBytes, SystemClock.unixSeconds)
        guard bytes > 0 else { return }
        context.linkRegistry.changeLedger(of: chain) { $0.recordFetch(bytes, of: address, at: now) }
    }

    /// True if the request contains nothing about its user.
    private var isRequestOfAnybody: Bool {
        facts.isNobodys && OrdinaryRequestFields.areAll(in: request, isPeerTrusted: peer.isTrusted)
    }

    /// Returns for how long a browser keeps the response as a dictionary.
    func keptSeconds(_ response: UpstreamResponse) -> Int {
        guard unkeptReason(response) == nil else { return 0 }
        return Int(max(0, freshness(of: response).remainingSeconds(at: Int64(SystemClock.unixSeconds))))
    }

    /// Asks the operator whether the only client is a balancer; its address may be a person's, and stays out of the log.
    private func askAboutSoleClient() {
        context.report(
            .warning(
                "route \(route.text): all public responses of late went to "
                    + (peer.isTrusted ? "a trusted proxy that names no client" : "one client")
                    + ", so that no body can be shown to be public and none gets a Link: "
                    + (peer.isTrusted
                        ? "have that proxy send X-Forwarded-For"
                        : "if that is a balancer, add its address to trusted_proxies and have it send X-Forwarded-For")
            ))
    }

    // MARK: Named versions

    /// Notes a client that advertises a named version.
    func recordUser(of version: Storage.Version) {
        guard linked == nil, version.isPinned(at: SystemClock.unixSeconds), let client = linkClient.address
        else { return }
        context.linkRegistry.recordUser(of: version, client: client)
    }

    /// Notes the cost of a named version that goes to a client, or the savings of a delta over one.
    func noteUse(bodyBytes: Int, sentBytes: Int) {
        let now = SystemClock.unixSeconds
        if let linked {
            guard let client = linkClient.address else { return }
            context.linkRegistry.recordDownload(
                of: linked.version, sentBytes: sentBytes, client: client, now: now)
        } else if record.coding.usesDictionary, let version = dictionary.version, version.isPinned(at: now),
            let client = linkClient.address
        {
            context.linkRegistry.recordSaving(
                over: version, bodyBytes: bodyBytes, sentBytes: sentBytes, client: client)
        }
    }

    // MARK: Pages

    /// The page whose script sent the request, if the page learns its announcements.
    private var source: (page: LearnedPages.Key, client: UInt128)? {
        guard facts.secFetchSite == .sameOrigin, request.headers.firstEquals(.secFetchDest, "empty"),
            let client = linkClient.address, let authority = resource.authority,
            let referer = request.headers.first(.referer).flatMap(Referer.init),
            referer.authority == authority.lowercased()
        else { return nil }
        let route = context.routes.route(of: referer.url, authority: authority)
        guard route.announcement == .auto else { return nil }
        let match = route.pageMatch(of: referer.url)
        return (LearnedPages.Key(authority: authority, match: match), client)
    }

    /// Announces by Link the dictionaries of other paths that the document's scripts will fetch.
    func announce(in response: inout UpstreamResponse) {
        guard linked == nil, !isTwin, route.announcement != .off, request.method == .get,
            let authority = resource.authority,
            response.facts.status == 200 || response.facts.status == 304,
            isDocument(response.facts.contentType),
            facts.isTransportSecure, facts.dictionarySwitch == nil, context.configuration.dictionariesOn
        else { return }
        let now = SystemClock.unixSeconds
        var paths: [String] = []
        let (chains, isLearned) = announcedChains(authority, now: now)
        for chain in chains
        where chain != response.target?.key.chainKey && paths.count < LearnedPages.announcedMax {
            guard let version = announcedVersion(of: chain, isLearned: isLearned, now: now) else { continue }
            paths.append(DictionaryPath(chainName: chain.name, digest: version.digest).text)
        }
        guard !paths.isEmpty else { return }
        for path in paths { response.head.headers.append(.link, LinkField.dictionary(path)) }
        proxy.metrics.counters.countAnnounced(paths.count, route: route.index)
    }

    /// Returns the chains that a document of this request announces; `isLearned` says that no setting names them.
    private func announcedChains(_ authority: String, now: Int) -> (chains: [ChainKey], isLearned: Bool) {
        switch route.announcement {
        case .off: return ([], false)
        case .paths(let targets):
            return (targets.compactMap { chain(of: $0, authority: authority) }, false)
        case .auto:
            let match = route.pageMatch(of: resource.url)
            let page = LearnedPages.Key(authority: authority, match: match)
            return (context.linkRegistry.chains(after: page, client: linkClient.address, now: now), true)
        }
    }

    private func chain(of target: Announcement.Target, authority: String) -> ChainKey? {
        let route = context.routes.route(of: target.url, authority: authority)
        if let chain = builtChain(of: route, authority: authority) { return chain }
        guard let dictionary = route.dictionary, let match = route.matchValue(of: target.url) else {
            return nil
        }
        return ChainKey(authority: authority, match: match, matchDest: dictionary.matchDest)
    }

    /// Returns the named version of a chain, of the variant that this client would be sent.
    private func announcedVersion(of chain: ChainKey, isLearned: Bool, now: Int) -> Storage.Version? {
        if let route = context.routes.builtRoute(of: chain) {
            let ledger = context.linkRegistry.knowledge(of: chain).ledger
            let isWorthIt =
                isLearned
                ? ledger.mayAnnounce(at: now)
                : !route.learnsBuilt || ledger.pays(at: now)
            return isWorthIt ? context.named(builtOf: route, in: chain, proxy.index, now: now) : nil
        }
        let known = proxy.index.recent(of: chain) + proxy.index.named(of: chain, now: now)
        guard let newest = known.first else { return nil }
        let route = context.routes.route(of: newest)
        guard context.routes.mayName(route), let dictionary = route.dictionary else { return nil }
        let fitting = known.first { VariantKey.fits($0.variant, values: variantValue) }
        return context.linkRegistry.announced(
            chain, variant: (fitting ?? newest).variant, isLearned: isLearned, index: proxy.index,
            lifeSeconds: dictionary.linkLifeSeconds, now: now)
    }

    /// Returns the chain of a route's built dictionary; nil while none is learned.
    private func builtChain(of route: Route, authority: String) -> ChainKey? {
        guard let chain = route.builtChain(authority: authority) else { return nil }
        return !route.learnsBuilt || proxy.index.learned(of: chain) != nil ? chain : nil
    }

    /// Notes a response that a client got without a version of its path, where a built dictionary is for those.
    func noteFirst(_ response: UpstreamResponse, bodyBytes: Int, sentBytes: Int) {
        guard route.dictionary?.built != nil, let key = response.target?.key, key.chainKey.scope == .public,
            facts.isTransportSecure, facts.dictionarySwitch == nil,
            facts.availableDictionary == nil || record.reason == .deltaBuilt,
            // Who can use a dictionary could be sent the best coding without one.
            [ContentCoding.overDictionary, ContentCoding.plain].allSatisfy({ codings in
                codings.contains { facts.acceptEncoding.quality(of: $0) > 0 }
            }),
            let client = linkClient.address,
            let chain = route.builtChain(authority: key.chainKey.authority)
        else { return }
        context.linkRegistry.recordFirst(
            of: chain, over: record.reason == .deltaBuilt ? dictionary.version : nil, bodyBytes: bodyBytes,
            sentBytes: sentBytes, client: client)
        guard route.learnsBuilt else { return }
        context.learned.recordFirstVisit(
            of: chain, sentBytes: sentBytes, client: client, now: SystemClock.unixSeconds)
    }
}

/// A Referer that is a URL of http or https.
struct Referer {
    /// In lower case.
    let authority: String
    let url: PathAndQuery

    init?(_ text: String) {
        guard let scheme = ["https://", "http://"].first(where: text.hasPrefix) else { return nil }
        let rest = text.dropFirst(scheme.count).prefix { $0 != "#" }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        let target = rest.dropFirst(authority.count)
        self.authority = authority.lowercased()
        url = PathAndQuery(target.hasPrefix("/") ? String(target) : "/" + target)
    }
}
