internal import Dictionaries
internal import HTTP

// MARK: - The form of an offer, and whether it is of use

extension Exchange {
    /// Puts the route's own Cache-Control on an answer, where it has one and the answer lets it.
    func setCacheControl(_ answer: Answer) {
        guard let override = route.cacheControl,
            override.applies(request: facts, response: answer.facts, policy: route.policy)
        else { return }
        Delivery.replaceCacheControl(&answer.head.headers, with: override.value)
        answer.isCacheControlReplaced = true
        answer.facts.sentCacheControl = override.directives
    }

    /// How this answer is offered, if it is: the setting `delivery`.
    func offerForm(_ answer: Answer) -> OfferForm { offerForm(answer, for: audience(of: answer.facts)) }

    /// How a response is offered to an audience.
    func offerForm(_ answer: Answer, for audience: Audience) -> OfferForm {
        // What needs an id is never named in a Link.
        guard audience == .everybody else { return .inBand }
        switch route.delivery {
        case nil, .inBand?: return .inBand
        case .link?: return .link
        case .auto?:
            // Most answers are done here, before a date is read.
            guard answer.facts.cacheControl.permitsSharing else { return .inBand }
            let ttl = Int64(route.dictionary?.ttlSeconds ?? 0)
            // Only a route that is written has `auto`.
            return OfferForm.automatic(
                freshness: freshness(answer), cacheControl: answer.facts.cacheControl,
                routePromisesLife: ttl >= OfferForm.usableSecondsMin, isRouteWritten: true)
        }
    }

    /// What is said of an answer's life, as the client gets it.
    private func cacheControl(_ answer: Answer) -> CacheControl {
        answer.facts.sentCacheControl
    }

    func freshness(_ answer: Answer) -> Freshness {
        let headers = answer.head.headers
        return Freshness(
            cacheControl: cacheControl(answer), age: headers.values(.age), date: headers.values(.date),
            expires: headers.values(.expires), lastModified: headers.values(.lastModified),
            receivedAt: Int64(Clock.unixSeconds))
    }

    /// Puts a Link to the version that is named in place of an offer, where that is the form.
    ///
    /// With the whole body, once it is admitted, its version is named where none is, and the gain of the named one
    /// measured now and then.
    func link(
        _ shape: inout Delivery.Shape, _ answer: Answer, _ place: Answer.Place?, body: Body? = nil
    ) {
        guard shape.offer != nil, let place, let dictionary = route.dictionary else { return }
        shape.offer = nil
        let named = context.linkDesk.named(
            for: place, body: body, index: proxy.index, lifeSeconds: dictionary.linkMaxAge / 1000,
            now: Clock.unixSeconds)
        shape.link = named.map { DictionaryPath(chain: $0.chain.name, digest: $0.digest) }
    }

    /// Counts an offer that goes out, and says where it is of no use: an answer that no browser keeps.
    func noteOffer(_ shape: Delivery.Shape, _ answer: Answer) {
        if shape.offer != nil || shape.link != nil { proxy.metrics.countOffer() }
        let isOwn = shape.offer != nil
        guard isOwn || route.usesDictionaries && answer.head.headers.contains(.useAsDictionary),
            let reason = unkeptReason(answer, ttl: shape.offer?.ttl)
        else { return }
        proxy.metrics.countUnkept(reason, route: route.index)
        guard route.shouldWarnOfUnkept(now: Clock.unixSeconds, context.shared.unkeptWarnings) else { return }
        let isSetHere = answer.isCacheControlReplaced && reason != .varyAny
        context.report(.warning(Self.unkeptWarning(reason, route: route, isSetHere: isSetHere)))
    }

    /// Tells the operator, once an hour, what keeps the responses of a route from deltas.
    func noteHint(_ answer: Answer) {
        // Read first, as it costs nothing and nearly every response is done with it.
        guard answer.facts.cacheControl.noStore || !answer.facts.varyNames.isEmpty, route.usesDictionaries,
            let hint = DeltaHint.find(request: facts, response: answer.facts, policy: route.policy),
            route.shouldHint(now: Clock.unixSeconds, context.shared.hints)
        else { return }
        context.report(.info(hint.text(route: route.text)))
    }

    private func unkeptReason(_ answer: Answer, ttl: Int?) -> UnkeptReason? {
        let headers = answer.head.headers
        let cacheControl = cacheControl(answer)
        // What RFC 9110 section 15.4.5 has a 304 repeat is not always repeated: then the first answer's word counts.
        if answer.facts.status == 304, !headers.contains(.cacheControl), !headers.contains(.expires) {
            return nil
        }
        var fields = UnkeptReason.Fields()
        fields.variesByAnything = answer.facts.varyNames.contains("*")
        // Where max-age gives it a life, nothing else that might is asked for.
        if cacheControl.maxAge == nil {
            fields.hasETag = headers.contains(.etag)
            fields.hasExpires = headers.contains(.expires)
            fields.hasLastModified = headers.contains(.lastModified)
        }
        return UnkeptReason.find(cacheControl, fields, ttl: ttl) {
            if let life = cacheControl.maxAge, life > 0, !headers.contains(.age) { return Int64(life) }
            let now = Int64(Clock.unixSeconds)
            return freshness(answer).remainingSeconds(at: now)
        }
    }

    /// What an operator reads once an hour; `isSetHere` says that the route's own cache_control is the reason.
    static func unkeptWarning(_ reason: UnkeptReason, route: Route, isSetHere: Bool) -> String {
        "route \(route.text) offers dictionaries on answers that no browser keeps (\(reason.rawValue)): "
            + (isSetHere
                ? "give max-age to the route's own cache_control, or set ttl or delivery: link beside it"
                : "have the upstream send max-age, or set cache_control, ttl or delivery: link on the route")
    }
}
