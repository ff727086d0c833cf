internal import Dictionaries
internal import HTTP
internal import Primitives
internal import Storage

// MARK: - A response of an observed route is measured beside the traffic

/// What is known of an exchange on an observed route; the exchange itself goes on as if there were no dictionaries.
final class ObservedExchange {
    let request: ObservedRequest
    /// The response without its body, once its head has come.
    private var begun: ObservedResponse?
    private var copy: ObservedBody.Copy?
    /// True once the upstream has sent the body to its end.
    private(set) var isWhole = false

    init(_ request: ObservedRequest) { self.request = request }

    /// Begins to copy a body; another one is forgotten.
    fileprivate func begin(_ copy: consuming ObservedBody.Copy, of response: ObservedResponse) {
        self.copy = consume copy
        begun = response
        isWhole = false
    }

    func receivedEnd() { isWhole = true }

    fileprivate func end() {
        copy = nil
        begun = nil
    }

    /// Adds bytes to the copy, or gives it up.
    func append(_ bytes: Span<UInt8>, _ observer: Observer) {
        guard let begun else { return }
        guard copy?.append(bytes) == true else {
            observer.countSkipped(begun.resource)
            return end()
        }
    }

    /// Returns the response without its body, for a client that holds that by this tag; nil if it is not measured.
    fileprivate func takeConfirmed(by tag: String?) -> ObservedResponse? {
        guard var response = begun else { return nil }
        end()
        response.entityTag = response.entityTag ?? tag
        return response
    }

    /// Returns the whole response; nil if it is not measured.
    fileprivate func take() -> ObservedResponse? {
        guard var response = begun, let body = copy?.take() else { return nil }
        end()
        (response.body, response.milliseconds) = (body, SystemClock.unixMilliseconds)
        return response
    }
}

extension Exchange {
    /// The Accept-Encoding of a client that offers dictionaries, which names all codings over one.
    private static let codingsOfHolders = Array(
        ContentCoding.overDictionary.map(\.token).joined(separator: ", ").utf8)

    /// Begins to observe a request, if its client is among those that are observed.
    func observe(_ route: Route) {
        guard route.policy.methods.contains(facts.method), resource.authority != nil else { return }
        var facts = RequestFacts()
        facts.read(
            request, url: resource.url, isPathNormal: self.facts.isPathNormal, peer: peer, route: route,
            secureTransport: context.configuration.secureTransport)
        facts.acceptEncoding.read(Self.codingsOfHolders.span)
        facts.dictionarySwitch = switchedOff(on: route)
        let address = linkClient.address
        let client = address.map { observedClient(at: $0, on: route) }
        guard let weight = context.observer.weight(of: client) else { return }
        observed = ObservedExchange(
            ObservedRequest(
                entitlement: Entitlement(
                    facts: facts,
                    resource: RequestedResource(
                        authority: resource.authority, url: resource.url, route: route)),
                client: client, weight: weight, address: address, plainCodings: otherCodings,
                compression: context.configuration.compression))
    }

    /// Returns the number of the client at an address: clients behind one address differ by their User-Agent and
    /// credentials.
    ///
    /// Cookies that tell no login are left out, because balancers and analytics change theirs with each response.
    private func observedClient(at address: UInt128, on route: Route) -> UInt64 {
        var parts = [(0..<16).map { UInt8(truncatingIfNeeded: address >> (8 * $0)) }]
        func add(_ value: Span<UInt8>) { parts.append([UInt8](copying: value)) }
        for name in [HeaderName.userAgent, .authorization] { request.headers.forEachValue(of: name, add) }
        let ignored = route.policy.personal.ignoredCookies
        request.headers.forEachValue(of: .cookie) { ignored.forEachCounted(in: $0, add) }
        return context.observer.number(of: parts)
    }

    /// Decides about a response as a live route would, and begins to copy its body.
    func observeHead(_ head: borrowing ResponseHead, framing: BodyFraming) {
        guard let observed else { return }
        var asked = observed.request
        let route = asked.route
        var received = copy head
        received.headers.removeConnectionFields()
        if let tag = identityTag(on: route, response: received.headers) {
            asked.entitlement.identify(as: tag)
        }
        var response = UpstreamResponse(head: received)
        response.facts.read(received, framing: framing, types: route.policy.types)
        editFields(of: &response)
        settleFreshness(of: &response, on: route, for: asked.entitlement.facts)
        observed.end()
        let isConfirmed = response.facts.status == 304
        if isConfirmed { response.facts.status = 200 }
        let audience = asked.entitlement.audience(of: response.facts)
        let key = asked.key(isPersonal: audience == .personal)
        if !isConfirmed,
            let obstacle = asked.entitlement.obstacleToAdmission(of: response.facts)
                ?? (response.facts.hasUseAsDictionary ? .offeredUpstream : nil)
        {
            return context.observer.count(obstacle, of: key, fields: Self.judgedFields(response))
        }
        guard let seen = seen(response, for: audience, key, asked) else { return }
        if isConfirmed { return context.observer.confirm(seen) }
        var coding: ContentCoding?
        if case .known(let own) = response.facts.coding { coding = own }
        observed.begin(
            ObservedBody.Copy(coding, bytesMax: route.policy.bodyBytesMax, memory: context.observer.copies),
            of: seen)
    }

    /// Has a response measured once it is whole and it is known what its client gets in its place.
    ///
    /// A client that gets a 304 holds the body: by the upstream's tag, or by the one that Dictum makes and that the 304 has.
    func settleObserved(tag: String? = nil) {
        guard let observed, record.status > 0 else { return }
        if record.status == 304 {
            if let seen = observed.takeConfirmed(by: tag) { context.observer.confirm(seen) }
        } else {
            guard observed.isWhole else { return }
            if let response = observed.take() { context.observer.submit(response) }
        }
        self.observed = nil
    }

    /// Returns the response without its body; nil if no chain is for it.
    private func seen(
        _ response: UpstreamResponse, for audience: Audience, _ key: ObservedRoutes.Key,
        _ asked: ObservedRequest
    ) -> ObservedResponse? {
        var entitlement = asked.entitlement
        guard
            let target = entitlement.target(
                for: audience, variant: variant(of: response.facts), isOffered: true, context.store.keys)
        else { return nil }
        return ObservedResponse(
            asked: asked, resource: key, facts: response.facts, target: target,
            entityTag: response.head.headers.versionTag(), takesMadeTag: takesMadeTag(response),
            lifeSeconds: keptSeconds(response), renewalSeconds: lifeSeconds(of: response, on: asked.route),
            unkept: unkeptReason(response), fields: Self.judgedFields(response), body: ObservedBody())
    }

    /// Returns the fields by which the doctor judges a response: of cookies the names, of an entity tag that it is there.
    private static func judgedFields(_ response: UpstreamResponse) -> [String: String] {
        let headers = response.head.headers
        var fields: [String: String] = [:]
        for name in [HeaderName.cacheControl, .vary, .expires, .lastModified, .age, .date] {
            if let value = headers.joined(name) { fields[name.text.lowercased()] = String(value.prefix(256)) }
        }
        if headers.contains(.etag) { fields["etag"] = "\"\"" }
        if !response.facts.setCookieNames.isEmpty {
            fields["set-cookie"] = response.facts.setCookieNames.prefix(8).map { "\($0.prefix(64))=" }
                .joined(separator: "\n")
        }
        return fields
    }
}
