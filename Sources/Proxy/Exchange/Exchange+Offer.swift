internal import Dictionaries
internal import HTTP
internal import Primitives

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
            return OfferForm.automatic(
                freshness: freshness(answer), cacheControl: answer.facts.cacheControl,
                isDocument: isDocument(answer.facts.contentType))
        }
    }

    /// What is said of an answer's life, as the client gets it.
    func cacheControl(_ answer: Answer) -> CacheControl {
        answer.facts.sentCacheControl
    }

    func freshness(_ answer: Answer) -> Freshness {
        let headers = answer.head.headers
        return Freshness(
            cacheControl: cacheControl(answer), age: headers.values(.age), date: headers.values(.date),
            expires: headers.values(.expires), lastModified: headers.values(.lastModified),
            receivedAt: Int64(SystemClock.unixSeconds))
    }

    /// Puts a Link to the version that is named in place of an offer, where that is the form.
    ///
    /// As long as no body is proven to be public, the offer stays. `isOffered` says that the response may carry one, though its
    /// own body may have to wait.
    func link(_ shape: inout Delivery.Shape, _ answer: Answer, _ place: Answer.Place?, isOffered: Bool) {
        guard answer.offerForm == .link, isOffered, let place, let dictionary = route.dictionary,
            let named = context.linkDesk.named(
                place.key.chainKey, variant: place.key.variant, index: proxy.index,
                lifeSeconds: dictionary.linkMaxAge / 1000, now: SystemClock.unixSeconds)
        else { return }
        shape.offer = nil
        shape.link = DictionaryPath(chainName: named.chainKey.name, digest: named.digest)
    }

    /// Counts an offer that goes out, and says where it is of no use: an answer that no browser keeps.
    func noteOffer(_ shape: Delivery.Shape, _ answer: Answer) {
        if shape.offer != nil || shape.link != nil { proxy.metrics.countOffer() }
        if shape.link != nil { noteUnfollowed(answer) }
        let isOwn = shape.offer != nil
        guard isOwn || route.usesDictionaries && answer.head.headers.contains(.useAsDictionary),
            let reason = unkeptReason(answer)
        else { return }
        proxy.metrics.countUnkept(reason, route: route.index)
        guard route.shouldWarnOfUnkept(now: SystemClock.unixSeconds, context.shared.unkeptWarnings) else {
            return
        }
        let isSetHere = answer.isCacheControlReplaced && reason != .varyAny
        context.report(.warning(Self.unkeptWarning(reason, route: route, isSetHere: isSetHere)))
    }

    /// Tells the operator, once an hour, what keeps the responses of a route from deltas.
    func noteHint(_ answer: Answer) {
        // Read first, as it costs nothing and nearly every response is done with it.
        guard answer.facts.cacheControl.noStore || !answer.facts.varyNames.isEmpty, route.usesDictionaries,
            let hint = DeltaHint.find(request: facts, response: answer.facts, policy: route.policy),
            route.shouldHint(now: SystemClock.unixSeconds, context.shared.hints)
        else { return }
        context.report(.info(hint.text(route: route.text)))
    }

    /// Tells the operator of very many variants, once an hour.
    func noteVariant(_ variant: String) {
        guard !variant.isEmpty, context.shared.variants.note(variant, route: route.text),
            let fields = VariantKey.names(in: variant), !fields.isEmpty,
            route.shouldHint(now: SystemClock.unixSeconds, context.shared.hints)
        else { return }
        context.report(.info(DeltaHint.manyVariants(fields: fields).text(route: route.text)))
    }

    func unkeptReason(_ answer: Answer) -> UnkeptReason? {
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
        return UnkeptReason.find(cacheControl, fields) {
            if let life = cacheControl.maxAge, life > 0, !headers.contains(.age) { return Int64(life) }
            let now = Int64(SystemClock.unixSeconds)
            return freshness(answer).remainingSeconds(at: now)
        }
    }

    /// What an operator reads once an hour; `isSetHere` says that the route's own cache_control is the reason.
    static func unkeptWarning(_ reason: UnkeptReason, route: Route, isSetHere: Bool) -> String {
        "route \(route.text) offers dictionaries on answers that no browser keeps (\(reason.rawValue)): "
            + (isSetHere
                ? "give max-age to the route's own cache_control, or announce its paths on the pages that fetch them"
                : "have the upstream send max-age, set cache_control on the route, or announce its paths on the pages"
                    + " that fetch them")
    }

    /// Counts a Link that no browser follows, and says so.
    private func noteUnfollowed(_ answer: Answer) {
        guard !isDocument(answer.facts.contentType) else { return }
        proxy.metrics.countUnfollowed(route: route.index)
        guard context.shared.linkWarnings.isDue(route.text, now: SystemClock.unixSeconds) else { return }
        context.report(
            .warning(
                """
                route \(route.text) sends Links on responses that are no documents, where no browser follows them: set \
                delivery: auto, and announce its paths on the pages that fetch them
                """))
    }
}
