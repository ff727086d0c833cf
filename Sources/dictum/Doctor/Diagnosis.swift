internal import Dictionaries
internal import HTTP

/// The conclusions from the observations, as a pure function of them.
struct Diagnosis: Sendable {
    private let seen: DoctorObservations
    /// The findings in this order: transport, version, offer, use, caches, pages, browser.
    private(set) var findings: [DoctorFinding] = []

    init(_ seen: DoctorObservations) {
        self.seen = seen
        findings.append(seen.transport)
        judgeVersion()
        guard judgeResponses() else { return }
        judgeOffer()
        judgeUse()
        judgeCaches()
        judgePage()
        judgeBrowser()
    }

    /// True if browsers will use dictionaries here, safely.
    var works: Bool {
        let isUsed = findings.contains { if case .used = $0 { true } else { false } }
        return isUsed && !findings.contains { $0.level == .problem }
    }

    // MARK: Transport

    private mutating func judgeVersion() {
        guard seen.offersHTTP2, let version = seen.probes.first?.response.head.version else { return }
        if version == .http2 {
            findings.append(seen.url.isTLS ? .http2 : .priorKnowledge)
        } else {
            findings.append(.http1Only(version.shortText))
        }
    }

    /// Returns true if there is more to examine.
    private mutating func judgeResponses() -> Bool {
        // An untrusted certificate has already been reported as the cause.
        if let failure = seen.failure, !findings.contains(where: Self.isUntrusted) {
            findings.append(.noResponse("\(failure)"))
        }
        guard let first = seen.probes.first else { return false }
        guard first.isOK else {
            let (status, location) = (
                Int(first.response.head.status.rawValue), first.response.head.headers.first(.location)
            )
            let isRefusal = seen.method == .get && [400, 405].contains(status)
            findings.append(isRefusal ? .wrongMethod(status) : .status(status, location: location))
            return false
        }
        if case .failure(let why) = first.body, !first.isDelta {
            findings.append(.undecodable("\(why)"))
            return false
        }
        return true
    }

    private static func isUntrusted(_ finding: DoctorFinding) -> Bool {
        if case .untrusted = finding { true } else { false }
    }

    // MARK: The offer

    private mutating func judgeOffer() {
        if let unlinked = seen.unlinked { findings.append(.linkFailed(unlinked.target, why: unlinked.why)) }
        guard let dictionary = seen.dictionary else { return }
        guard let field = dictionary.field else {
            guard seen.unlinked == nil, !isPageKeptOut else { return }
            let isUsed = held.contains { $0.isDelta && $0.decoded != nil }
            return findings.append(isUsed ? .offerStripped : missingOffer)
        }
        guard let offer = dictionary.offer else { return findings.append(.offerMalformed(field)) }
        guard dictionary.pattern != nil else { return findings.append(.matchInvalid(offer.match)) }
        guard dictionary.isFor(seen.url) else { return findings.append(.matchElsewhere(offer.match)) }
        if case .linked(let target) = dictionary.source, !seen.isDocument {
            return findings.append(.linkNotFollowed(target))
        }
        if let ttl = offer.ttl, ttl > 0 { findings.append(.ttlIgnored(ttl)) }
        if seen.method != .get, !offer.match.contains("?") { findings.append(.sharedMatch(offer.match)) }
        if let twin = seen.twin {
            let line = TwinLine(
                path: seen.url.pathAndQuery, hasAuthorization: seen.credentials.contains(.authorization))
            return findings.append(
                .twinWorks(dictionary.judgement.unkept, seconds: twin.judgement.remainingSeconds, line))
        }
        if let reason = dictionary.judgement.unkept {
            findings.append(.unkept(reason))
            return judgeAnnouncement()
        }
        let seconds = dictionary.judgement.remainingSeconds
        switch dictionary.source {
        case .own: findings.append(.offered(match: offer.match, seconds: seconds))
        case .linked(let target):
            findings.append(.linked(target: target, match: offer.match, seconds: seconds))
        case .twin: break
        }
        if seconds < ResponseJudgement.shortLifeSeconds {
            findings.append(.shortLife(seconds))
            judgeAnnouncement()
        }
    }

    /// Finds out if a page could announce a dictionary whose own lifetime is too short.
    private mutating func judgeAnnouncement() {
        guard !seen.isDocument, seen.dictionary?.source == .own else { return }
        if let finding = judgement?.announcement { findings.append(finding) }
    }

    private var judgement: ResponseJudgement? {
        seen.probes.first.map {
            ResponseJudgement(
                headers: $0.response.head.headers, receivedAt: $0.response.receivedAt,
                credentials: seen.credentials, changesEachTime: changesEachTime, isOfGET: seen.method == .get)
        }
    }

    private var changesEachTime: Bool {
        let bodies = seen.probes.filter { $0.isOK && $0.url == seen.url }.compactMap(\.decoded?.digest)
        return bodies.count > 3 && Set(bodies).count == bodies.count
    }

    /// The reason why nothing is offered: Dictum's own, if it gives one, else one from the response's fields.
    private var missingOffer: DoctorFinding {
        let reason = held.last?.notOffered ?? held.last?.reason
        if reason == Reason.insecureTransport.text { return .forwardedAsInsecure }
        if let obstacle = judgement?.obstacle { return .notOfferable(obstacle) }
        if let finding = judgement?.missing(for: seen.method, at: seen.url) { return finding }
        if let reason, Reason(text: reason)?.keepsFromOffer == true { return .notOffered(reason: reason) }
        let isPrivate =
            seen.probes.first.map { CacheControl($0.response.head.headers.values(.cacheControl)).isPrivate }
        return isPrivate == true ? .notOfferable(.isPrivate) : .notOffered(reason: reason)
    }

    // MARK: The use

    /// The responses to a client that holds the dictionary.
    private var held: [DoctorProbe] { seen.probes.filter { $0.offer == .held && $0.isOK } }

    private mutating func judgeUse() {
        let held = held
        for probe in held { judgeBody(of: probe) }
        let good = held.filter { $0.isDelta && $0.decoded != nil }
        if let probe = good.last, let coding = probe.coding, let body = probe.decoded {
            findings.append(.used(coding, wireBytes: probe.response.body.count, bodyBytes: body.count))
        }
        let without = held.filter { !$0.isDelta }
        guard let last = without.last, seen.dictionary?.field != nil else { return }
        // If the dictionary is used only at a URL that no cache has seen yet, a cache is the cause, and not the
        // server.
        let isKeptFrom =
            !good.isEmpty && without.count > 1
            && held.allSatisfy { $0.isDelta == ($0.url != seen.url) }
        if isKeptFrom || without.contains(where: \.isFromCache) {
            append(.cacheIgnoresVary)
        } else if good.isEmpty, without.count == held.count {
            append(Self.refusal(last.reason))
        } else if !good.isEmpty {
            let isUnknown = without.allSatisfy { [nil, Reason.dictionaryUnknown.text].contains($0.reason) }
            let isChanging = Set(seen.probes.compactMap(\.decoded?.digest)).count > 1
            append(
                .notAlwaysUsed(
                    used: good.count, asked: held.count,
                    mayBeReplaced: !seen.credentials.isEmpty && isUnknown && isChanging))
        }
    }

    private mutating func judgeBody(of probe: DoctorProbe) {
        switch probe.body {
        case .failure(.coding(let error)) where error.stage == .header && probe.isDelta:
            append(probe.isFromCache ? .mixed : .wrongHash(error.coding))
        case .failure(let error): append(.undecodable("\(error)"))
        case .success(let body):
            let plain = seen.probes.filter { $0.offer == .nothing && $0.url == probe.url }.compactMap(
                \.decoded)
            guard probe.isDelta, plain.count > 1, let first = plain.first,
                plain.allSatisfy({ $0.digest == first.digest }), body.digest != first.digest
            else { return }
            append(.otherBody)
        }
    }

    private static func refusal(_ reason: String?) -> DoctorFinding {
        switch reason.flatMap({ Reason(text: $0) }) {
        case .clientNew, .dictionaryNotKept: .availableDictionaryStripped
        case .codingNotAccepted: .codingsStripped
        case .insecureTransport: .forwardedAsInsecure
        default: .notUsed(reason: reason)
        }
    }

    // MARK: Caches

    private mutating func judgeCaches() {
        let responses = seen.probes.filter(\.isOK)
        // The client of such a probe has offered no dictionary, or one that only it has, so it cannot decode
        // deltas.
        for probe in responses where probe.offer != .held {
            if probe.isDelta {
                append(.mixed)
            } else if case .failure(let error) = probe.body {
                append(.undecodable("\(error)"))
            }
        }
        if seen.dictionary?.field != nil || responses.contains(where: \.isDelta) {
            let missing = Set(responses.flatMap(\.missingInVary))
            if !missing.isEmpty { append(.varyMissing(missing.sorted())) }
            if judgement?.sharesTooLittle == true, !findings.contains(.notAnnounceable(.changesEachTime)) {
                append(.changesEachTime)
            }
        }
        findings += judgement?.variants ?? []
    }

    // MARK: Pages of other origins, and real browsers

    private mutating func judgePage() {
        switch seen.page {
        case .sameOrigin: break
        case .crossSite: findings.append(.crossSite)
        case .sameSite:
            findings.append(isPageKeptOut ? .corsMissing : .sameSite)
        }
    }

    /// True if the page's origin keeps it from getting an offer.
    private var isPageKeptOut: Bool {
        switch seen.page {
        case .sameOrigin: false
        case .crossSite: true
        case .sameSite:
            seen.probes.first?.response.head.headers.contains(.accessControlAllowOrigin) != true
        }
    }

    private mutating func judgeBrowser() {
        switch seen.browser {
        case nil: break
        case .failure(let failure)?: findings.append(.browserFailed(failure.description))
        case .success(let fetches)?:
            let deltas = fetches.filter(\.isDelta).count
            let later = fetches.dropFirst()
            if deltas > 0 {
                findings.append(.browserUsed(deltas, of: fetches.count))
            } else if later.contains(where: \.advertised), later.allSatisfy({ $0.status == 304 }) {
                findings.append(.browserUnchanged(fetches.count))
            } else {
                findings.append(.browserNoDelta(fetches.count))
            }
        }
    }

    /// Adds a finding unless it is there already.
    private mutating func append(_ finding: DoctorFinding) {
        if !findings.contains(finding) { findings.append(finding) }
    }
}
