internal import Dictionaries
internal import HTTP
internal import Storage

// MARK: - A body that was held goes out whole

extension Exchange {
    /// Works on a whole body: compares, hashes and codes it, here or beside the loop.
    func prepare() {
        guard !dictionary.isLoading, linked == nil || upload.isWhole, var draft = phase.takeDraft() else {
            return
        }
        guard let (bytes, former) = body.prepare() else { return phase = .draft(draft) }
        let isLengthNews = draft.response.facts.bodyBytes != bytes.count
        draft.response.facts.bodyBytes = bytes.count
        draft.response.facts.isBodyWhole = true
        if draft.response.target != nil,
            body.isInflated(bytes.count)
                || isLengthNews
                    && entitlement.obstacleToAdmission(of: draft.response.facts) != nil
        {
            draft.response.target = nil
        }
        let decision = decideWhole(draft.response)
        let newest = draft.stored ?? newestBody(draft.response, count: bytes.count, known: former)
        var job = codingJob(bytes, draft.response, decision, newest: newest)
        switch job.start(reply: { reply(decision) }) {
        case .done(let result): respond(draft, decision, result)
        case .underWay: phase = .draft(draft)
        }
    }

    /// Decides about a whole body: a client that holds it by the upstream's tag gets a 304, for which nothing is coded.
    private func decideWhole(_ response: UpstreamResponse) -> Decision {
        if isNotModified(response) {
            return Decision(coding: .identity, reason: .notModified)
        }
        return body.lacksMemory ? Decision(coding: .identity, reason: .busy) : decide(response)
    }

    /// Returns a closure that brings a job's result from another thread back to this exchange.
    func reply(_ decision: Decision) -> CodingJob.Reply {
        let exchange = ExchangeReference(self)
        return { result in exchange.perform { $0.coded(decision, result) } }
    }

    /// Goes on after another thread has done a job.
    func coded(_ decision: Decision, _ result: CodingJob.Result) {
        if body.isPreparing, let draft = phase.takeDraft() {
            respond(draft, decision, result)
        } else {
            admitCopy(result)
        }
        advance()
    }

    /// Describes the work on a body; `newest` is the body itself if it comes from the store, or the version that it may be.
    func codingJob(
        _ bytes: [UInt8], _ response: UpstreamResponse, _ decision: Decision, newest: Body?
    ) -> CodingJob {
        CodingJob(
            bytes: bytes, newest: newest,
            needsDigest: response.target != nil || needsTag(response, count: bytes.count),
            coding: decision.coding, dictionary: decision.coding.usesDictionary ? dictionary.body : nil,
            scope: deltaScope, route: route, levels: context.configuration.compression.levels,
            resources: context.coding, client: share.use)
    }

    /// Returns true if the response is to have an entity tag made from its body.
    private func needsTag(_ response: UpstreamResponse, count: Int) -> Bool {
        takesMadeTag(response) && count <= heldBytesMax
    }

    /// Returns true for a response to GET of the configured types without a validator of its own.
    ///
    /// A tag on a response to QUERY or POST would be taken for one of the target, and stand in If-Match (RFC 9110 section 8.8).
    /// A client that has a tag asks by the tag, and then an upstream must ignore the date of its Last-Modified (RFC 9110
    /// section 13.1.3): it would send whole bodies where it has said 304.
    func takesMadeTag(_ response: UpstreamResponse) -> Bool {
        request.method == .get && !response.head.headers.contains(.etag)
            && !response.head.headers.contains(.lastModified)
            && isCodedResource(response)
    }

    /// Returns the newest version of the response's URL and variant, if a body of this length may be that one again.
    ///
    /// `known` spares taking it out of the store, if it is that version.
    func newestBody(_ response: UpstreamResponse, count: Int, known: Body? = nil) -> Body? {
        guard let target = response.target else { return nil }
        if target.isProvisional {
            // The time of a comparison would reveal other clients' bodies; the client's own dictionary may return.
            return dictionary.body.flatMap { $0.count == count ? $0 : nil }
        }
        guard let newest = proxy.index.newest(target.key), newest.bytes == count else { return nil }
        return known.flatMap { $0.digest == newest.digest ? $0 : nil } ?? context.store.hotBody(of: newest)
    }

    // MARK: The outcome

    private func respond(_ draft: consuming ResponseDraft, _ decision: Decision, _ result: CodingJob.Result) {
        if result.obstacle == .busy { return respondBusy(draft, decision, result) }
        guard let held = body.takeHeld() else { return }
        noteAsker(draft.response, bodyBytes: held.count, result)
        // A delta that failed says nothing of how long deltas are.
        var deltaBytes: Int?
        if decision.coding.usesDictionary, result.obstacle == nil || result.obstacle == .notShorter {
            deltaBytes = result.coded?.count ?? held.count
            dictionary.version?.recordDelta(bytes: deltaBytes ?? 0)
        }
        guard decision.coding != .identity else {
            return respond(draft, held, decision, result, nil, deltaBytes: deltaBytes)
        }
        if !result.isShared {
            countCompression(decision.coding, nanoseconds: result.nanoseconds)
        }
        guard let coded = result.coded else {
            let reason = result.obstacle ?? .notShorter
            return respondUncoded(draft, held, because: reason, result, deltaBytes: deltaBytes)
        }
        let mayTell = mayTellOfOthers(draft.response)
        let final = Decision(
            coding: decision.coding, reason: result.isShared && mayTell ? .deltaCached : decision.reason,
            upstreamCodingHandling: decision.upstreamCodingHandling)
        respond(draft, held, final, result, coded, deltaBytes: deltaBytes)
    }

    /// Returns true if the client may see that another one has got the same delta: those that get or hold the same personal
    /// bytes must not learn of each other.
    func mayTellOfOthers(_ response: UpstreamResponse) -> Bool {
        route.policy.scope == .private
            || deltaScope == .public && entitlement.audience(of: response.facts) != .personal
    }

    /// Responds in the best way that takes no time, because all places for large jobs are taken.
    private func respondBusy(
        _ draft: consuming ResponseDraft, _ decision: Decision, _ result: CodingJob.Result
    ) {
        guard let held = body.takeHeld() else { return }
        proxy.metrics.counters.compressionBusy.add()
        // Hashing takes a place, too.
        if result.body == nil { draft.response.target = nil }
        // What must not be coded, or needs no coding, is not coded quickly either.
        guard decision.coding != .identity else { return respond(draft, held, decision, result, nil) }
        let coding = BusyCoding.quick(
            accept: facts.acceptEncoding, codings: context.configuration.compression.codings,
            bodyBytes: held.count)
        guard held.original?.isAccepted != true, coding != .identity,
            let coded = quicklyCoded(held.bytes, coding), coded.count < held.count
        else { return respondUncoded(draft, held, because: .busy, result) }
        respond(draft, held, Decision(coding: coding, reason: .busy), result, coded)
    }

    /// Codes a body with the least effort; returns nil if there is no memory for it, or it fails.
    private func quicklyCoded(_ body: [UInt8], _ coding: ContentCoding) -> [UInt8]? {
        let options = EncoderOptions(bodyBytes: body.count, effort: .fast)
        return context.compressionMemory.lend(Codec.memoryEstimate(for: coding, options: options)) {
            try? Codec.encode(body.span, coding, options: options)
        } ?? nil
    }

    /// Responds without a coding of Dictum's: as the upstream coded the body, if the client accepts that, else plain.
    private func respondUncoded(
        _ draft: consuming ResponseDraft, _ held: consuming HeldBody, because reason: Reason,
        _ result: CodingJob.Result, deltaBytes: Int? = nil
    ) {
        guard let original = held.original, original.isAccepted else {
            let decision = Decision(coding: .identity, reason: reason)
            return respond(draft, held, decision, result, nil, deltaBytes: deltaBytes)
        }
        body.dropDecoder()
        let decision = Decision(coding: original.coding, reason: reason, upstreamCodingHandling: .passThrough)
        respond(draft, held, decision, result, original.bytes, deltaBytes: deltaBytes)
    }

    /// Admits the body, and sends the response in its final form: `coded`, or the held bytes if that is nil.
    private func respond(
        _ draft: consuming ResponseDraft, _ held: consuming HeldBody, _ decision: Decision,
        _ result: CodingJob.Result, _ coded: [UInt8]?, deltaBytes: Int? = nil
    ) {
        record.bodyBytesBefore = held.count
        note(decision)
        let isOriginal = decision.upstreamCodingHandling == .passThrough
        var edits = ResponseEdits(
            coding: decision.coding,
            isCodingChanged: !isOriginal && decision.coding != .identity || body.isDecoded)
        // An unchanged response needs its tag for a condition or an admission only.
        if result.body != nil || edits.isCodingChanged || request.headers.contains(.ifNoneMatch) {
            edits.etag = draft.response.head.headers.first(.etag)
        }
        if edits.etag == nil, let body = result.body, takesMadeTag(draft.response) {
            edits.etag = ETagForm.made(of: body.digest)
        }
        // Confirming the stored body later would leave its trailers out.
        if body.hasTrailers { draft.response.headToKeep = nil }
        // The admission hands the client's dictionary on.
        noteTwinDue(draft.response, deltaBytes: deltaBytes)
        if let body = result.body {
            let candidate = Candidate(
                body: body, etag: edits.etag, isNewest: result.isNewest, deltaBytes: deltaBytes)
            edits.offer = admit(candidate, &draft)
            if edits.offer != nil { notePublic(body, draft.response) }
            // A Link names an older version, so it goes out also while this body has to wait.
            if let target = draft.response.target { offerByLink(&edits, draft.response, target) }
        }
        shapeHead(edits, &draft.response)
        if isNotModified(draft.response, tag: edits.etag) {
            // Another user's response may have the same tag, so only an id that the client has sent may go out.
            if let offer = edits.offer, !offer.id.isEmpty, offer.id != facts.dictionaryID {
                draft.response.head.headers.remove(.useAsDictionary)
            }
            makeNotModified(&draft)
            return respondEmpty(draft)
        }
        // Only a delta that goes out saves anything.
        if decision.coding.usesDictionary, let coded {
            sampleGain(of: held.bytes, deltaBytes: coded.count)
        }
        let bytes = coded ?? held.bytes
        noteUse(bodyBytes: held.count, sentBytes: bytes.count)
        noteFirst(draft.response, bodyBytes: held.count, sentBytes: bytes.count)
        explain(
            decision, in: &draft, sent: (held.count, bytes.count), microseconds: result.nanoseconds / 1000)
        let hasTrailers =
            body.hasTrailers && !body.trailers(isCodingChanged: edits.isCodingChanged).isEmpty
        // In HTTP/1.1 trailers follow only a chunked body.
        let isChunked = hasTrailers && request.version == .http11
        let sent = writeHead(
            draft, body: isChunked ? .chunked : .length(UInt64(bytes.count)),
            isCodingChanged: edits.isCodingChanged, hasTrailers: hasTrailers)
        body.send(bytes, memory: held.takeMemory(), after: sent)
        phase = .sent(sent)
    }

    // MARK: The worth of deltas

    /// The clients that may share the deltas of this request.
    var deltaScope: DeltaScope {
        guard let version = dictionary.version else { return .public }
        return route.hasBuilt(version) ? .built : version.chainKey.deltaScope(context.store.keys)
    }

    private func noteAsker(_ response: UpstreamResponse, bodyBytes: Int, _ result: CodingJob.Result) {
        guard let key = result.key, case .ready(let version, let dictionary) = dictionary else { return }
        let memory = context.compressionMemory
        context.coding.noteAsker(
            peer.clientAddress(request.headers), of: key, bodyBytes: bodyBytes, at: response.target,
            over: (version, dictionary), in: context.store, on: route
        ) {
            memory.lend($0, to: $1) != nil
        }
    }

    /// The name under which deltas of this request count.
    var gainRoute: String { route.index == nil ? "none" : route.text }

    /// Has a delta that goes out compared with coding without a dictionary, if it is its turn.
    private func sampleGain(of body: [UInt8], deltaBytes: Int) {
        guard body.count <= GainSampler.bodyBytesMax, let version = dictionary.version,
            context.gain.takeTurn(of: gainRoute)
        else { return }
        let compression = context.configuration.compression
        context.gain.submit(
            GainSampler.Sample(
                route: gainRoute, body: body, deltaBytes: deltaBytes, codings: otherCodings,
                source: source(of: version)),
            levels: compression.levels)
    }

    private func source(of version: Storage.Version) -> RouteGain.Source {
        if route.hasBuilt(version) { return .built }
        // URLs have other names in a private chain, and a download of a dictionary has none of its own.
        let isNamed = !version.chainKey.scope.isSealed && linked == nil
        return isNamed && !version.isFrom(resource.url.text) ? .otherURL : .sameURL
    }

    /// The codings without a dictionary that the client accepts.
    var otherCodings: [ContentCoding] {
        context.configuration.compression.codings.filter {
            !$0.usesDictionary && facts.acceptEncoding.quality(of: $0) > 0
        }
    }
}

/// Chooses the coding of a response when the pool has no place for the intended one.
enum BusyCoding {
    /// Level 1 of zstd takes 3 µs per KiB: at most 0.2 ms on the loop.
    static let zstdBytesMax = 64 << 10
    /// Level 1 of gzip takes 10 µs per KiB.
    static let gzipBytesMax = 16 << 10

    /// Returns the best coding that the loop can make quickly, or identity.
    static func quick(accept: AcceptEncoding, codings: [ContentCoding], bodyBytes: Int) -> ContentCoding {
        var best = ContentCoding.identity
        var bestQuality = 0
        for (coding, bytesMax) in [(ContentCoding.zstd, zstdBytesMax), (.gzip, gzipBytesMax)]
        where bodyBytes <= bytesMax && codings.contains(coding) {
            let quality = accept.quality(of: coding)
            if quality > bestQuality { (best, bestQuality) = (coding, quality) }
        }
        return accept.quality(of: .identity) > bestQuality ? .identity : best
    }
}
