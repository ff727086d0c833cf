internal import Dictionaries
internal import HTTP
internal import Storage

// MARK: - The head of the response is decided

extension Exchange {
    /// Decides about a response after its head has arrived.
    func plan(_ head: consuming ResponseHead, framing: BodyFraming) {
        // The Upgrade of a 426 tells the client what it must ask for (RFC 9110 section 15.5.22).
        head.headers.removeConnectionFields(except: head.status == .upgradeRequired ? .upgrade : nil)
        head.headers.removeTrailerNames()
        takeIdentity(from: &head.headers)
        var draft = draft(of: head, framing: framing)
        let isEventStream = MediaTypes.isEventStream(draft.response.facts.contentType)
        if isEventStream { body = ResponseBody(memory: share.memory, isEventStream: true) }
        if draft.response.head.status.isBodiless || request.method == .head { return respondBodiless(draft) }
        let obstacle = Eligibility.obstacle(
            request: facts, response: draft.response.facts, policy: route.policy)
        // What is too short for a coding is too short for a dictionary.
        if obstacle != .ineligibleSize { draft.response.target = target(for: draft.response) }
        draft.response.offerForm = offerForm(draft.response)
        hint(about: draft.response.facts)
        if case .known(let coding) = draft.response.facts.coding {
            return planCoded(draft, coding, isEventStream: isEventStream)
        }
        let isHeld =
            obstacle == nil || draft.response.target != nil
            || obstacle == .ineligibleSize && takesMadeTag(draft.response)
        guard isHeld, !isEventStream, canHold(framing) else { return stream(draft, nil, because: obstacle) }
        var length: Int?
        if case .length(let count) = framing, takesHeldBody { length = Int(count) }
        // A body of unknown length is not compared before it is whole: most lengths differ.
        let former = length.flatMap { newestBody(draft.response, count: $0) }
        _ = body.hold(expecting: length, bytesMax: holdBytesMax, repeating: former)
        hold(draft)
    }

    /// Reads what decides about a response of the upstream, or about a stored one that it has confirmed, and edits its head as
    /// the route says.
    func draft(
        of head: consuming ResponseHead, framing: BodyFraming, stored: Body? = nil, keepsHead: Bool = true
    ) -> ResponseDraft {
        if context.configuration.explain { head.headers.remove(.dictumExplain) }
        heedSwitch()
        var draft = ResponseDraft(head, framing: framing, stored: stored)
        draft.response.facts.read(draft.response.head, framing: framing, types: route.policy.types)
        if keepsHead { keepHead(of: &draft.response) }
        editFields(of: &draft.response)
        settleFreshness(of: &draft.response, on: route, for: facts)
        return draft
    }

    /// Plans a response that the upstream coded: its bytes go out untouched, unless the client gains by decoding.
    private func planCoded(_ draft: consuming ResponseDraft, _ coding: ContentCoding, isEventStream: Bool) {
        guard decide(draft.response).upstreamCodingHandling == .decode else { return stream(draft, nil) }
        let isAccepted = facts.acceptEncoding.quality(of: coding) > 0
        let original = HeldBody.Original(coding: coding, isAccepted: isAccepted)
        draft.response.facts.coding = .none
        guard body.hold(expecting: nil, bytesMax: holdBytesMax, original: original) else {
            return refuse(.undecodable)
        }
        if isEventStream { stream(draft, body.takeHeld()) } else { hold(draft) }
    }

    /// A body that the client cannot take is held no longer than until its first piece, so that its memory is counted.
    private var holdBytesMax: Int { takesHeldBody ? heldBytesMax : 0 }

    /// A window of a few bytes would cost a whole body's coding as well as an open one, so it gets no more than it takes.
    private var takesHeldBody: Bool { client.roomForBody >= Self.leastRoom }

    /// The least window that any usual client has is sixteen times as large.
    private static let leastRoom = 4096

    /// Keeps the draft while the body is held.
    private func hold(_ draft: consuming ResponseDraft) {
        phase = .draft(draft)
        proxy.watchHeld(self)
    }

    private func canHold(_ framing: BodyFraming) -> Bool {
        guard case .length(let count) = framing else { return true }
        return count <= UInt64(heldBytesMax)
    }

    /// Larger bodies are coded piece by piece.
    var heldBytesMax: Int { max(route.policy.bodyBytesMax, 1 << 20) }

    // MARK: Responses without a body

    /// Sends the head of a response to HEAD, or of a 204 or 304: the fields that GET would have.
    private func respondBodiless(_ draft: consuming ResponseDraft) {
        let status = draft.response.head.status
        if status == .notModified {
            shapeNotModified(&draft, isUpstreams: true)
        } else if status == .noContent {
            draft.response.head.headers.remove(.contentLength)
            record.reason = .ineligibleStatus
        } else if request.method == .head {
            shapeBodiless(&draft)
        }
        phase = .sent(writeHead(draft, body: .none))
    }

    /// Gives a response to HEAD the fields that GET would have.
    func shapeBodiless(_ draft: inout ResponseDraft) {
        if isNotModified(draft.response) { return makeNotModified(&draft) }
        guard isCodedResource(draft.response) else { return }
        // The length of a HEAD response is the length that GET would have; that of a coded one is not known.
        if let length = draft.response.head.headers.first(.contentLength).flatMap(Int.init),
            draft.response.facts.coding == .none
        {
            draft.response.facts.bodyBytes = length
        }
        draft.response.facts.isBodyWhole = true
        let decision = decide(draft.response)
        let isChanged =
            decision.upstreamCodingHandling == .decode
            || decision.upstreamCodingHandling == .none && decision.coding != .identity
        // The record keeps no coding: a head alone is no delta, and no byte of it is coded.
        let edits = ResponseEdits(coding: decision.coding, isCodingChanged: isChanged)
        edits.apply(to: &draft.response.head.headers, varying: variation(for: draft.response.facts))
        explain(decision, in: &draft, sent: nil)
    }

    // MARK: Every head

    /// Sets and removes the fields that the route says.
    ///
    /// The facts stay what the upstream said, since a removed Set-Cookie still made the body for one client; only fields
    /// that decide who may read the body, and in which coding, are read again.
    func editFields(of response: inout UpstreamResponse) {
        guard let edits = route.responseEdits else { return }
        edits.apply(to: &response.head.headers)
        guard edits.hides(.contentType) || edits.hides(.accessControlAllowOrigin) else { return }
        var shown = ResponseFacts()
        shown.read(response.head, framing: .none, types: route.policy.types)
        response.facts.contentType = shown.contentType
        response.facts.accessControlAllowOrigin = shown.accessControlAllowOrigin
    }

    /// Returns the decision for a response, by what is known of it now.
    func decide(_ response: UpstreamResponse) -> Decision {
        Negotiation.decide(
            request: facts, response: response.facts, route: route.policy,
            dictionary: dictionaryFound(for: response.facts),
            serverPreference: context.configuration.compression.preference)
    }

    func note(_ decision: Decision) {
        record.coding = decision.coding
        record.reason = decision.reason
    }

    /// Returns true if responses of this kind come in several codings, and so vary.
    func isCodedResource(_ response: UpstreamResponse) -> Bool {
        guard response.facts.status == 200 || response.facts.status == 206,
            route.policy.types.contains(response.facts.contentType)
        else { return false }
        if case .foreign = response.facts.coding { return false }
        return !response.facts.cacheControl.noTransform
    }

    func variation(for response: ResponseFacts) -> ResponseEdits.Variation {
        variation(for: entitlement.audience(of: response))
    }

    func variation(for audience: Audience) -> ResponseEdits.Variation {
        guard let sharedCaches = route.sharedCaches else { return .encoding }
        let isOverPublic = dictionary.version.map { $0.chainKey.scope == .public } ?? true
        return .dictionary(sharedCaches, byID: audience != .public, isOverPublic: isOverPublic)
    }

    func shapeHead(_ edits: ResponseEdits, _ response: inout UpstreamResponse) {
        noteLinks(of: response)
        if edits.isCodingChanged || isCodedResource(response) {
            edits.apply(to: &response.head.headers, varying: variation(for: response.facts))
        } else {
            edits.addOffer(to: &response.head.headers)
        }
        noteOffer(edits, response)
        announce(in: &response)
    }

    /// Writes `Dictum-Explain`: the decision, and what came of it as far as that is known.
    func explain(
        _ decision: Decision, in draft: inout ResponseDraft, sent: (from: Int, to: Int)?,
        microseconds: Int? = nil
    ) {
        guard context.configuration.explain else { return }
        let response = draft.response
        var text = "\(decision.coding.token);reason=\(decision.reason.text)"
        // With its id a digest is a credential.
        if decision.coding.usesDictionary, deltaScope == .public, let body = dictionary.body {
            text += ";dictionary=:\(body.digest.base64):"
        }
        if let sent { text += ";from=\(sent.from);to=\(sent.to)" }
        if let microseconds, mayTellOfOthers(response) { text += ";micros=\(microseconds)" }
        if let gain = context.gain.total(of: gainRoute)?.ofAll { text += ";route-gain=\(gain.percent)%" }
        let personal = route.policy.personal
        if let cause = entitlement.personalCause(of: response.facts) {
            text += ";personal=\(cause.rawValue)"
        }
        let harmless = response.facts.setCookieNames.filter(personal.ignoredSetCookies.contains)
        if !harmless.isEmpty { text += ";harmless-set-cookie=\(harmless.joined(separator: ","))" }
        let obstacle = entitlement.obstacleToOffer(of: response.facts)
        if let refusal = draft.refusal {
            text += ";not-admitted=\(refusal.rawValue)"
        } else if let obstacle, obstacle != decision.reason {
            text += ";not-offered=\(obstacle.text)"
        }
        draft.response.head.headers.replace(.dictumExplain, with: text)
    }
}
