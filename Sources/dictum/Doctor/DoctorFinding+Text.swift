internal import Dictionaries
internal import HTTP

extension DoctorFinding {
    /// The stable name of the finding, for programs: that of its case, in kebab case.
    var name: String {
        if case .noResponse = self { return "no-answer" }
        let label = Mirror(reflecting: self).children.first?.label ?? "\(self)"
        return label.reduce(into: "") { $0 += $1.isUppercase ? "-" + $1.lowercased() : String($1) }
    }

    var text: String {
        transportText ?? offerText ?? methodText ?? useText ?? pageText ?? cacheText
    }

    private var transportText: String? {
        switch self {
        case .loopback:
            "the URL is on this machine: browsers use dictionaries here, also over http and with any certificate that the "
                + "browser trusts; elsewhere they need https with a public certificate"
        case .systemAuthority:
            "https, and the certificate leads to an authority that this system trusts; browsers use dictionaries if "
                + "it is a public authority, but not if it was added on this machine"
        case .insecureTransport:
            "http: browsers use dictionaries only over https and on localhost; give the server a certificate"
        case .privateAuthority:
            "the certificate leads to --ca, which is no public authority: except on localhost, Chromium then silently "
                + "advertises no dictionary; get a publicly trusted certificate"
        case .untrusted(let why):
            "the certificate is not trusted (\(why)), so browsers refuse the site; renew it, send the whole chain, or "
                + "name a private authority with --ca FILE"
        case .http2: "the server chose HTTP/2 in the TLS handshake (ALPN), as it does for browsers"
        case .http1Only(let version):
            "the server offers no HTTP/2 in the TLS handshake (ALPN), so browsers speak \(version) and send at most six "
                + "requests at a time; switch HTTP/2 on in the server that terminates TLS (Dictum: h2 in `protocols`)"
        case .priorKnowledge:
            "the server speaks HTTP/2 without TLS, but browsers do not: over http they speak HTTP/1.1, over https the version "
                + "that the server chooses"
        case .noResponse(let why): why
        case .status(let status, let location?):
            "the response is \(status) and redirects to \(location): examine that URL"
        case .status(let status, nil) where 502...504 ~= status:
            "the response is \(status): the proxy got no response of its upstream; check that the upstream runs at the "
                + "address that the proxy's configuration has, and look into the proxy's log"
        case .wrongMethod(let status):
            "the response to GET is \(status): if the path is for POST or QUERY, give a request that it takes, such as "
                + "-X QUERY -d '{\"operationName\": \"Feed\"}' -H 'Content-Type: application/json'"
        case .status(let status, nil):
            "the response is \(status), but only 200 can be a dictionary: give a URL that returns 200, or credentials "
                + "with -H or --cookie"
        default: nil
        }
    }

    private var offerText: String? {
        switch self {
        case .offered(let match, let seconds):
            "offered as a dictionary for \(match), which Chromium keeps for \(Self.life(seconds)): during that time "
                + "fetch(url, {cache: \"no-cache\"}) advertises it; a plain fetch() reads the browser's own cache"
        case .linked(let target, let match, let seconds):
            "this document's Link leads to the dictionary \(target) for \(match), which Chromium keeps for "
                + Self.life(seconds)
        case .linkNotFollowed(let target):
            "a Link leads to the dictionary \(target), but browsers follow Links of documents only, so fetch() gets no "
                + "delta; set delivery: in_band on the route, or have a page announce the dictionary"
        case .ttlIgnored(let seconds):
            "`ttl` (\(Self.life(Int64(seconds)))) has no effect: Chromium has it behind a flag and goes by how long the "
                + "response is fresh"
        case .notOfferable(.noStore):
            "Cache-Control has no-store, so nobody may keep this response as a dictionary; remove it if the response may "
                + "be kept (Spring Security adds it to everything), or set store_despite: [no-store] on the route"
        case .notOfferable(.isPrivate):
            "Cache-Control has private, and the response is not a dictionary for its own client either: check that Dictum is in "
                + "front of this URL, with `personal: capability` for its route"
        case .notOfferable(.varyAny): "Vary is *, so nobody may reuse this response; have Vary name fields"
        case .notOffered(let reason):
            "the response has neither Use-As-Dictionary nor a Link to a dictionary\(Self.said(reason)): "
                + (reason.flatMap(Reason.init(text:)).flatMap(\.advice)
                    ?? "check that Dictum is in front of this URL, that its route has dictionaries, and that the response may be "
                    + "shared")
        case .offerStripped:
            "the server sends deltas, but no Use-As-Dictionary arrives: something in between removes the field; let it "
                + "pass"
        case .offerMalformed(let value):
            "invalid Use-As-Dictionary (\(value)): expected a structured field with match=\"...\" and the type raw"
        case .matchInvalid(let match):
            "browsers refuse the match \(match): expected a URL Pattern of the same origin without regular expressions"
        case .matchElsewhere(let match):
            "the match \(match) does not cover this URL, so later responses cannot use the dictionary; check `covers` of the "
                + "route, and proxies in between that rewrite paths"
        case .unkept(let reason):
            "Chromium does not keep the dictionary (\(reason.rawValue)): \(Self.remedy(reason))"
        case .shortLife(let seconds):
            "Chromium keeps the dictionary for only \(Self.life(seconds)): a page that fetches less often gets no delta; "
                + "set `cache_control` on the route, or, if the response says public, announce the path on the page that "
                + "fetches it"
        case .twinWorks(let reason, let seconds, let line):
            "Chromium does not keep this response\(reason.map { " (\($0.rawValue))" } ?? " for long"), but that of its twin URL "
                + "for \(Self.life(seconds)): pages get deltas that have this line: \(line.text)"
        case .needsTwin(let reason, let seconds, let line):
            "the response belongs to one user, and Chromium \(reason.map { "does not keep it (\($0.rawValue))" } ?? "keeps it for only \(Self.life(seconds))"): "
                + "pages that fetch it get deltas with this line (BROWSERS.md): \(line.text)"
        case .notAnnounceable(let reason): "no page can announce this path: \(Self.obstacle(reason))"
        case .linkFailed(let target, let why):
            "cannot fetch the dictionary \(target) that a Link names: \(why)"
        default: nil
        }
    }

    private var methodText: String? {
        switch self {
        case .noLifetime(let method):
            "responses to \(method.text) become dictionaries only with an explicit lifetime, and this one has none: send max-age "
                + "or Expires, or set `cache_control` on the route"
        case .contentLocation(let value):
            "Content-Location is \(value), so the response to POST may be about another resource and is no dictionary; leave "
                + "the field out if the response is what the URL stands for"
        case .methodNotListed(let method):
            "the response may be a dictionary, but is not offered as one: check that Dictum is in front of this URL, and that "
                + "the `methods` of its route have \(method.text), such as methods: [GET, QUERY, POST]"
        case .sharedMatch(let match):
            "browsers keep one dictionary for \(match), whatever the content of a request: if it names one of several operations, "
                + "put its name into the query as well (/graphql?op=Feed), and have `key` name that parameter"
        default: nil
        }
    }

    private static func life(_ seconds: Int64) -> String { OutputFormat.duration(Int(seconds)) }

    private static func said(_ reason: String?) -> String {
        reason.map { " (Dictum's reason: \($0))" } ?? ""
    }

    private static func remedy(_ reason: UnkeptReason) -> String {
        switch reason {
        case .varyAny: "have Vary name fields instead of *"
        case .noStore:
            "nobody may keep a response with no-store; remove it if the response may be kept"
        default:
            "send max-age or stale-while-revalidate, set `cache_control` on the route, or, if the response says public, announce "
                + "the path on the page that fetches it"
        }
    }

    private static func obstacle(_ reason: UnannouncedReason) -> String {
        switch reason {
        case .changesEachTime:
            "every response has another body, so no body reaches three clients; remove what changes without need "
                + "(times, random ids)"
        case .notPublic:
            "the response has neither public nor s-maxage; if it is the same for everybody, have the upstream or `cache_control` "
                + "say so; if it belongs to one user, examine the URL with the user's --cookie or -H"
        case .setsCookie: "the response sets a cookie; if it is the same for everybody, have it set none"
        case .credentials:
            "the request carries credentials, but only a body that three clients got without any is announced; use "
                + "fetch(url, {credentials: \"omit\"}) if the response is the same for everybody"
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
            "Accept-Encoding reaches Dictum without dcb and dcz: something in between rewrites it; let it pass unchanged"
        case .forwardedAsInsecure:
            "Dictum considers the transport insecure: the server that terminates TLS must send X-Forwarded-Proto: https and "
                + "be in `trusted_proxies`"
        case .notUsed(nil):
            "the dictionary is offered, but no response is coded over it: something in between removes Available-Dictionary, "
                + "or dcb and dcz from Accept-Encoding, or the server does not have the body; `explain: true` tells which"
        case .notUsed(let reason?):
            "the dictionary is offered, but no response is coded over it: Dictum's reason is \(reason); if that is "
                + "dictionary-unknown, other instances do not have it, or something in between changes the body"
        case .notAlwaysUsed(let used, let asked, true):
            "only \(used) of \(asked) responses are coded over the dictionary: the body changes, and with scope: private the store "
                + "keeps one version per user; raise `private_versions` if users have several devices. On other routes, check "
                + "whether several instances each have a store of their own"
        case .notAlwaysUsed(let used, let asked, false):
            "only \(used) of \(asked) responses are coded over the dictionary: check whether several instances each have "
                + "a store of their own"
        case .wrongHash(let coding):
            "the \(coding.token) body is coded over another dictionary than the one offered, so browsers fail the page: check "
                + "whether something in between changes the body or the field, and switch `dictionaries` off until it is found"
        case .undecodable(let why):
            "a response cannot be decoded (\(why)), so browsers fail the page; switch `dictionaries` off until the cause is "
                + "found"
        case .otherBody:
            "the delta decodes to another body than the plain response: something in between serves old or wrong responses"
        default: nil
        }
    }

    private var pageText: String? {
        switch self {
        case .crossSite:
            "the page is of another site, where Chromium uses no dictionaries, even with CORS; serve the page and the API under "
                + "one site"
        case .corsMissing:
            "the page is of another origin, and the response has no Access-Control-Allow-Origin for it, so neither the page nor "
                + "Dictum may use it there; have the API send that field"
        case .sameSite:
            "the page is of the same site, and CORS lets it read the response: its fetch() uses dictionaries"
        case .browserUsed(let used, let asked):
            "a real browser got deltas in \(used) of \(asked) fetches"
        case .browserNoDelta(let asked):
            "a real browser got no delta in \(asked) fetches with {cache: \"no-cache\"}: see the other findings, or check for "
                + "a service worker"
        case .browserUnchanged(let asked):
            "a real browser advertised the dictionary, but the body did not change in \(asked) fetches (304): try again when "
                + "it changes, or with more --fetches"
        case .browserFailed(let why): "the browser did not work: \(why)"
        default: nil
        }
    }

    private var cacheText: String {
        switch self {
        case .varyMissing(let names):
            "Vary does not name \(names.joined(separator: " and ")), so caches serve responses to clients that cannot decode "
                + "them; let Vary pass as the server sends it"
        case .cacheIgnoresVary:
            "a cache in between serves clients that hold the dictionary the response for other clients: it must respect Vary, "
                + "or not cache these URLs"
        case .mixed:
            "a client gets a response that is coded over a dictionary it does not hold: a cache mixes variants; it must "
                + "respect Vary and `CDN-Cache-Control: no-store`, or not cache these URLs"
        case .changesEachTime:
            "every response has another body, so clients share no dictionary and no delta, and each response is stored as far as "
                + "store.write_rate allows; remove what changes without need (times, random ids)"
        case .variesWidely(let field):
            "Vary names \(field), whose value differs for nearly every client, so clients share no variants; remove it from the "
                + "upstream's Vary if the body does not depend on it"
        case .setsCookie(let names):
            "the response sets \(names.joined(separator: " and ")), which makes it personal: it is a dictionary only for the "
                + "client that received it; if the cookie identifies no user, add it to ignore_set_cookie"
        case .setsHarmlessCookie(let names):
            "the response sets \(names.joined(separator: " and ")), which is known to be harmless: the response is not personal"
        default: name
        }
    }
}
