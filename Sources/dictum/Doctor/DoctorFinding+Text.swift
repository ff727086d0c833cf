internal import Dictionaries

extension DoctorFinding {
    /// The stable name of the finding, for programs.
    var name: String {
        switch self {
        case .loopback: "loopback"
        case .systemAuthority: "system-authority"
        case .insecureTransport: "insecure-transport"
        case .privateAuthority: "private-authority"
        case .untrusted: "untrusted"
        case .noAnswer: "no-answer"
        case .status: "status"
        case .offered: "offered"
        case .linked: "linked"
        case .notOffered: "not-offered"
        case .notOfferable: "not-offerable"
        case .linkNotFollowed: "link-not-followed"
        case .ttlIgnored: "ttl-ignored"
        case .crossSite: "cross-site"
        case .corsMissing: "cors-missing"
        case .sameSite: "same-site"
        case .browserUsed: "browser-used"
        case .browserNoDelta: "browser-no-delta"
        case .browserUnchanged: "browser-unchanged"
        case .browserFailed: "browser-failed"
        case .offerStripped: "offer-stripped"
        case .offerMalformed: "offer-malformed"
        case .matchInvalid: "match-invalid"
        case .matchElsewhere: "match-elsewhere"
        case .unkept: "unkept"
        case .shortLife: "short-life"
        case .notAnnounceable: "not-announceable"
        case .linkFailed: "link-failed"
        case .used: "used"
        case .availableDictionaryStripped: "available-dictionary-stripped"
        case .codingsStripped: "codings-stripped"
        case .forwardedAsInsecure: "forwarded-as-insecure"
        case .notUsed: "not-used"
        case .notAlwaysUsed: "not-always-used"
        case .wrongHash: "wrong-hash"
        case .undecodable: "undecodable"
        case .otherBody: "other-body"
        case .varyMissing: "vary-missing"
        case .cacheIgnoresVary: "cache-ignores-vary"
        case .mixed: "mixed"
        case .changesEachTime: "changes-each-time"
        case .variesWidely: "varies-widely"
        case .setsCookie: "sets-cookie"
        case .setsHarmlessCookie: "sets-harmless-cookie"
        }
    }

    /// One line that says what is the case and what to do.
    var text: String {
        wayText ?? offerText ?? useText ?? pageText ?? cacheText
    }

    private var wayText: String? {
        switch self {
        case .loopback:
            "this machine itself: browsers use dictionaries here, by http too and whatever the certificate; "
                + "elsewhere they need https with a public certificate"
        case .systemAuthority:
            "https, and the certificate leads to an authority that this system trusts; browsers use dictionaries "
                + "where it is a public one, and not where somebody has added it here"
        case .insecureTransport:
            "http: browsers use dictionaries only by https, and on localhost; give the server a certificate"
        case .privateAuthority:
            "the certificate leads to --ca, which is no public authority: away from localhost Chromium advertises no "
                + "dictionary then, and says nothing; get a publicly trusted certificate"
        case .untrusted(let why):
            "the certificate cannot be trusted (\(why)): no browser goes on; renew it, send the whole chain, or "
                + "name a private authority with --ca FILE"
        case .noAnswer(let why): why
        case .status(let status, let location?):
            "the answer is \(status) and leads to \(location): ask for that one"
        case .status(let status, nil):
            "the answer is \(status), and only 200 makes a dictionary: give a URL that answers 200, or credentials with "
                + "-H or --cookie"
        default: nil
        }
    }

    private var offerText: String? {
        switch self {
        case .offered(let match, let seconds):
            "offered as a dictionary for \(match), which Chromium keeps for \(Self.life(seconds)): so long "
                + "fetch(url, {cache: \"no-cache\"}) asks with it; a plain fetch() is answered from the browser's own cache"
        case .linked(let target, let match, let seconds):
            "this document's Link leads to the dictionary \(target) for \(match), which Chromium keeps for "
                + Self.life(seconds)
        case .linkNotFollowed(let target):
            "a Link leads to the dictionary \(target), but browsers follow it on documents only: fetch() gets no delta; set "
                + "delivery: in_band on the route, or have a page announce the dictionary"
        case .ttlIgnored(let seconds):
            "`ttl` (\(Self.life(Int64(seconds)))) counts for nothing: Chromium knows it behind a flag only; what counts is how "
                + "long the response is fresh"
        case .notOfferable(.noStore):
            "Cache-Control says no-store: nobody may keep this response, so it is no dictionary; take it off where the "
                + "response may be kept (Spring Security puts it on everything), or set store_despite: [no-store] on the route"
        case .notOfferable(.isPrivate):
            "Cache-Control says private, and the response is no dictionary for its own client either: is Dictum in front of this "
                + "URL, with `personal: capability` for its route?"
        case .notOfferable(.varyAny): "Vary says *: nobody may reuse this response; let it name fields"
        case .notOffered(let reason):
            "the answer has neither Use-As-Dictionary nor a Link to a dictionary\(Self.said(reason)): is Dictum in "
                + "front of this URL, with dictionaries on for its route, and is the answer one that may be shared?"
        case .offerStripped:
            "the server codes over its answers, but no Use-As-Dictionary arrives: something in between removes "
                + "the field; let it pass"
        case .offerMalformed(let value):
            "Use-As-Dictionary cannot be read (\(value)): it must be a structured field with match=\"...\", and of "
                + "type raw"
        case .matchInvalid(let match):
            "the match \(match) is no URL Pattern that browsers take: it must be of the same origin and without "
                + "regular expressions"
        case .matchElsewhere(let match):
            "the match \(match) does not fit this URL: the dictionary is not for its later answers; look at "
                + "`covers` of the route, and at what rewrites paths in between"
        case .unkept(let reason):
            "Chromium does not keep the dictionary (\(reason.rawValue)): \(Self.remedy(reason))"
        case .shortLife(let seconds):
            "Chromium keeps the dictionary for \(Self.life(seconds)) only: a page that fetches less often gets no delta; "
                + "announce the path on the page that fetches it, or set `cache_control` on the route"
        case .notAnnounceable(let reason): "no page can announce this path: \(Self.obstacle(reason))"
        case .linkFailed(let target, let why):
            "the dictionary \(target) that a Link leads to does not come: \(why)"
        default: nil
        }
    }

    private static func life(_ seconds: Int64) -> String {
        switch seconds {
        case 172_800...: "\(seconds / 86_400) days"
        case 7_200...: "\(seconds / 3_600) hours"
        case 120...: "\(seconds / 60) minutes"
        default: "\(seconds) s"
        }
    }

    private static func said(_ reason: String?) -> String { reason.map { " (Dictum says \($0))" } ?? "" }

    private static func remedy(_ reason: UnkeptReason) -> String {
        switch reason {
        case .varyAny: "let Vary name fields, and not *"
        case .noStore:
            "an answer with no-store is for nobody to keep; take it off where the answer may be kept"
        default:
            "announce the path on the page that fetches it, send max-age or stale-while-revalidate, or set `cache_control` on "
                + "the route"
        }
    }

    private static func obstacle(_ reason: UnannouncedReason) -> String {
        switch reason {
        case .changesEachTime:
            "every response is another body, so that none reaches three clients alike; take out what changes for no reason "
                + "(times, random ids)"
        case .notPublic:
            "the response does not say public or s-maxage; where it is everybody's, have the upstream or `cache_control` say so"
        case .setsCookie: "the response sets a cookie; have it set none where it is everybody's"
        case .credentials:
            "the request carries credentials, and only what three clients without any got alike is announced; call "
                + "fetch(url, {credentials: \"omit\"}) where the response is everybody's"
        }
    }

    private var useText: String? {
        switch self {
        case .used(let coding, let wire, let body):
            "a client that holds the dictionary gets \(coding.token): \(wire) bytes for a body of \(body), which may not have "
                + "changed in between"
        case .availableDictionaryStripped:
            "Available-Dictionary does not reach Dictum: something in between removes it; let it pass"
        case .codingsStripped:
            "Accept-Encoding reaches Dictum without dcb and dcz: something in between rewrites it; let it pass as it is"
        case .forwardedAsInsecure:
            "Dictum takes the transport for insecure: who ends TLS must send X-Forwarded-Proto: https, and be in "
                + "`trusted_proxies`"
        case .notUsed(nil):
            "the dictionary is offered, but no answer is coded over it: Available-Dictionary, or dcb and dcz in "
                + "Accept-Encoding, are removed on the way, or the server has no such body; `explain: true` says which"
        case .notUsed(let reason?):
            "the dictionary is offered, but no answer is coded over it: Dictum says \(reason); if that is "
                + "dictionary-unknown, other instances do not have it, or the body is changed on the way"
        case .notAlwaysUsed(let used, let asked):
            "only \(used) of \(asked) answers are coded over the dictionary: are there several instances, each with "
                + "a store of its own?"
        case .wrongHash(let coding):
            "the \(coding.token) body is for another dictionary than the one offered: browsers fail the page; is the body "
                + "changed on the way, or the field? Switch `dictionaries` off until it is found"
        case .undecodable(let why):
            "an answer cannot be decoded (\(why)): browsers fail the page; switch `dictionaries` off until it is found"
        case .otherBody:
            "what is coded over the dictionary is another body than the plain one: something serves old answers, or the "
                + "wrong ones"
        default: nil
        }
    }

    private var pageText: String? {
        switch self {
        case .crossSite:
            "the page is of another site: Chromium uses no dictionary there, CORS or not; serve page and API under one site"
        case .corsMissing:
            "the page is of another origin, and the response has no Access-Control-Allow-Origin for it: neither the page nor "
                + "Dictum may use it there; have the API send that field"
        case .sameSite:
            "the page is of the same site and CORS lets it read the response: its fetch() uses dictionaries"
        case .browserUsed(let used, let asked):
            "a real browser got deltas in \(used) of \(asked) fetches"
        case .browserNoDelta(let asked):
            "a real browser got no delta in \(asked) fetches with {cache: \"no-cache\"}: the other findings say why, or a "
                + "service worker is in between"
        case .browserUnchanged(let asked):
            "a real browser advertised the dictionary, but the body has not changed in \(asked) fetches (304): ask again when "
                + "it does, or with more --fetches"
        case .browserFailed(let why): "the browser cannot be asked: \(why)"
        default: nil
        }
    }

    private var cacheText: String {
        switch self {
        case .varyMissing(let names):
            "Vary does not name \(names.joined(separator: " and ")): caches give answers to clients that cannot read "
                + "them; let Vary pass as the server sends it"
        case .cacheIgnoresVary:
            "a cache in between gives clients that hold the dictionary what it keeps for others: it must heed Vary, or "
                + "leave these URLs alone"
        case .mixed:
            "a client gets an answer that is coded over a dictionary which it does not hold: a cache mixes variants; it "
                + "must heed Vary and `CDN-Cache-Control: no-store`, or leave these URLs alone"
        case .changesEachTime:
            "every answer is another: each client holds a body that nobody else has, and few of them become "
                + "dictionaries; take out what changes for no reason (times, random ids)"
        case .variesWidely(let field):
            "Vary names \(field), of which nearly every client has its own value: none shares a variant with another; remove "
                + "it from the upstream's Vary where the body does not depend on it"
        case .setsCookie(let names):
            "the response sets \(names.joined(separator: " and ")), which makes it personal: it is a dictionary for the client "
                + "that it is for; name the cookie in ignore_set_cookie where it says nothing of a user"
        case .setsHarmlessCookie(let names):
            "the response sets \(names.joined(separator: " and ")), which is listed as harmless: it makes nothing personal"
        default: name
        }
    }
}
