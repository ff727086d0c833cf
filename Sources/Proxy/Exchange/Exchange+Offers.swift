internal import Dictionaries
internal import HTTP
internal import Primitives
internal import Storage

// MARK: - The body is offered

extension Exchange {
    /// Puts the route's own Cache-Control on a response, if the route has one and the response allows it, and adds the
    /// facts that responses to QUERY and POST are judged by.
    func settleFreshness(
        of response: inout UpstreamResponse, on route: Route, for request: @autoclosure () -> RequestFacts
    ) {
        if !isGetOrHead {
            response.facts.contentLocation = ContentLocation(
                response.head.headers.values(.contentLocation), url: resource.url.text,
                authority: resource.authority)
        }
        if let override = route.cacheControl,
            override.applies(request: request(), response: response.facts, policy: route.policy)
        {
            ResponseEdits.replaceCacheControl(&response.head.headers, with: override.value)
            response.isCacheControlReplaced = true
            response.facts.sentCacheControl = override.directives
        }
        if !isGetOrHead {
            let now = Int64(SystemClock.unixSeconds)
            response.facts.isExplicitlyFresh = freshness(of: response).remainingSeconds(at: now) > 0
        }
    }

    /// True unless the content of the request may have a part in the meaning of its response.
    private var isGetOrHead: Bool { facts.method == .get || facts.method == .head }

    /// Returns the form in which a response is offered, if it is: the setting `delivery`.
    func offerForm(_ response: UpstreamResponse) -> OfferForm {
        guard let delivery = route.delivery, delivery != .inBand else { return .inBand }
        return offerForm(response, for: entitlement.audience(of: response.facts))
    }

    func offerForm(_ response: UpstreamResponse, for audience: Audience) -> OfferForm {
        // Links never name a dictionary that needs an id. Nor is a response to content what their URL stands for.
        guard audience == .public, !isTwin, isGetOrHead else { return .inBand }
        switch route.delivery {
        case nil, .inBand?: return .inBand
        case .link?: return .link
        case .auto?:
            // Most responses end here, before a date is read.
            guard response.facts.cacheControl.permitsSharing else { return .inBand }
            return OfferForm.automatic(
                freshness: freshness(of: response), cacheControl: response.facts.cacheControl,
                isDocument: isDocument(response.facts.contentType))
        }
    }

    /// Returns how long the response lives, as the client gets it.
    ///
    /// No heuristic gives a life to a response to QUERY or POST.
    func freshness(of response: UpstreamResponse) -> Freshness {
        let headers = response.head.headers
        return Freshness(
            cacheControl: response.facts.sentCacheControl, age: headers.values(.age),
            date: headers.values(.date), expires: headers.values(.expires),
            lastModified: isGetOrHead ? headers.values(.lastModified) : [],
            receivedAt: Int64(SystemClock.unixSeconds))
    }

    /// Puts a Link to the named version of the target's chain in place of an offer, if that is the form.
    ///
    /// The offer stays as long as no body of the chain is proven to be public.
    func offerByLink(_ edits: inout ResponseEdits, _ response: UpstreamResponse, _ target: AdmissionTarget) {
        guard response.offerForm == .link, target.offer != nil, let dictionary = route.dictionary,
            let named = context.linkRegistry.named(
                target.key.chainKey, variant: target.key.variant, index: proxy.index,
                lifeSeconds: dictionary.linkLifeSeconds, now: SystemClock.unixSeconds)
        else { return }
        edits.offer = nil
        edits.link = DictionaryPath(chainName: named.chainKey.name, digest: named.digest)
    }

    /// Counts an offer that goes out, and warns of offers on responses that no browser keeps.
    func noteOffer(_ edits: ResponseEdits, _ response: UpstreamResponse) {
        if edits.offer != nil || edits.link != nil { proxy.metrics.counters.offers.add() }
        if edits.link != nil { noteUnfollowedLink(response) }
        let isOwn = edits.offer != nil
        guard !isTwin, isOwn || route.usesDictionaries && response.head.headers.contains(.useAsDictionary),
            let reason = unkeptReason(response)
        else { return }
        proxy.metrics.counters.countUnkept(reason, route: route.index)
        guard route.reminders.unkept.take(now: core.now) else { return }
        let isSetHere = response.isCacheControlReplaced && reason != .varyAny
        context.report(.warning(Self.unkeptWarning(reason, route: route, isSetHere: isSetHere)))
    }

    /// Tells the operator, once an hour, what keeps the responses of a route from deltas.
    func hint(about response: ResponseFacts) {
        // These two are read first: they cost nothing, and rule out nearly every response.
        guard response.cacheControl.noStore || !response.varyNames.isEmpty, route.usesDictionaries,
            let hint = DeltaHint.find(request: facts, response: response, policy: route.policy),
            route.reminders.hint.take(now: core.now)
        else { return }
        context.report(.info(hint.text(route: route.text)))
    }

    /// Tells the operator, once an hour, of a route with very many variants.
    func hintManyVariants(_ variant: String) {
        guard !variant.isEmpty, context.shared.variants.record(variant, route: route.text),
            case let fields = VariantKey.fieldNames(in: variant), !fields.isEmpty,
            route.reminders.hint.take(now: core.now)
        else { return }
        context.report(.info(DeltaHint.manyVariants(fields: fields).text(route: route.text)))
    }

    func unkeptReason(_ response: UpstreamResponse) -> UnkeptReason? {
        let headers = response.head.headers
        // A 304 need not repeat these fields (RFC 9110 section 15.4.5); then the first response counts.
        if response.facts.status == 304, !headers.contains(.cacheControl), !headers.contains(.expires) {
            return nil
        }
        return BrowserFreshness(
            headers, response.facts.sentCacheControl, hasHeuristic: isGetOrHead,
            receivedAt: Int64(SystemClock.unixSeconds)
        ).obstacle
    }

    /// Returns the warning of offers in vain; `isSetHere` says that the route's own cache_control is the reason.
    static func unkeptWarning(_ reason: UnkeptReason, route: Route, isSetHere: Bool) -> String {
        "route \(route.text) offers dictionaries on responses that no browser keeps (\(reason.rawValue)): "
            + (isSetHere
                ? "give max-age to the route's own cache_control, or announce its paths on the pages that fetch them"
                : "have the upstream send max-age, set cache_control on the route (for apps its ttl is enough), or announce its"
                    + " paths on the pages that fetch them; for users who are logged in those pages include /.dictum/own.js")
    }

    /// Counts a Link that no browser follows, and warns of it.
    private func noteUnfollowedLink(_ response: UpstreamResponse) {
        guard !isDocument(response.facts.contentType) else { return }
        proxy.metrics.counters.countUnfollowed(route: route.index)
        guard route.reminders.link.take(now: core.now) else { return }
        context.report(
            .warning(
                """
                route \(route.text) sends Links on responses that are no documents, where no browser follows them: set \
                delivery: auto, and announce its paths on the pages that fetch them
                """))
    }
}
