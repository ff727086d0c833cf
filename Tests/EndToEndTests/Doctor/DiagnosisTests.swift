internal import Dictionaries
internal import HTTP
internal import TestSupport
internal import Testing

@testable internal import dictum

/// The findings about transport, offer, pages and browsers, without any connection.
struct DiagnosisTests {
    @Test func `some reasons keep a response from being offered, and others only a client from a delta`() {
        let keeping: Set<Reason> = [
            .crossOrigin, .insecureTransport, .personal, .identityIncomplete, .pathNotNormal, .routeOff,
            .switchedOff, .authorityOff, .heldOut, .ineligibleType, .ineligibleSize, .codedUpstream,
            .eventStream, .offeredUpstream,
        ]
        for reason in Reason.allCases {
            #expect(reason.keepsFromOffer == keeping.contains(reason), "\(reason)")
        }
    }

    @Test func `where all is well the findings say so`() throws {
        let diagnosis = try SeenURL().diagnosis()
        #expect(diagnosis.findings == [.systemAuthority, SeenURL.offered, SeenURL.used])
        #expect(diagnosis.works)
    }

    // MARK: Transport

    @Test func `http, a private authority and one that nobody trusts are problems; this machine is none`()
        throws
    {
        #expect(try SeenURL.problems { $0.transport = .insecureTransport } == [.insecureTransport])
        #expect(try SeenURL.problems { $0.transport = .privateAuthority } == [.privateAuthority])
        #expect(try SeenURL.problems { $0.transport = .loopback } == [])
        var seen = SeenURL()
        seen.transport = .untrusted("expired")
        seen.requests = []
        var observations = try seen.observations()
        observations.failure = .exchange(.handshakeFailed(.certificate("expired")))
        #expect(Diagnosis(observations).findings == [.untrusted("expired")])
    }

    @Test(arguments: [
        ("localhost", true), ("a.localhost", true), ("LocalHost", true), ("127.0.0.1", true),
        ("127.1.2.3", true),
        ("::1", true), ("localhost.test", false), ("notlocalhost", false), ("127.example.com", false),
        ("128.0.0.1", false), ("::2", false),
    ])
    func `a loopback host is told as browsers tell it`(host: String, isLoopback: Bool) {
        #expect(TargetURI.isLoopback(host) == isLoopback)
    }

    @Test func `an exchange that fails, and a status other than 200`() throws {
        var observations = try SeenURL().observations()
        observations.probes = []
        observations.failure = .exchange(.truncated)
        let findings = Diagnosis(observations).findings
        #expect(findings == [.systemAuthority, .noResponse("\(FetchError.exchange(.truncated))")])
        #expect(!Diagnosis(observations).works)
        #expect(
            try SeenURL.problems { $0.change(.nothing) { $0.status = 401 } } == [.status(401, location: nil)])
        #expect(
            try SeenURL.problems { $0.change(.nothing) { $0.status = 206 } } == [.status(206, location: nil)])
        let moved = try SeenURL.problems {
            $0.change(.nothing) {
                $0.status = 302
                $0.fields["Location"] = "/new"
            }
        }
        #expect(moved == [.status(302, location: "/new")])
        #expect(DoctorFinding.status(502, location: nil).text.contains("no response of its upstream"))
        #expect(DoctorFinding.status(401, location: nil).text.contains("credentials"))
    }

    // MARK: The offer

    @Test func `no offer: stripped where the server codes all the same, else with Dictum's reason`() throws {
        #expect(try SeenURL.problems { $0.fields["Use-As-Dictionary"] = nil } == [.offerStripped])
        let none = try SeenURL.problems { seen in
            seen.fields["Use-As-Dictionary"] = nil
            seen.change(.held) { $0.fields["Content-Encoding"] = nil }
        }
        #expect(none == [.notOffered(reason: nil)])
        let insecure = try SeenURL.problems { seen in
            seen.fields["Use-As-Dictionary"] = nil
            seen.change(.held) {
                $0.fields["Content-Encoding"] = nil
                $0.fields["Dictum-Explain"] = "gzip;reason=insecure-transport"
            }
        }
        #expect(insecure == [.forwardedAsInsecure])
    }

    @Test(arguments: [
        ("identity;reason=event-stream", "event-stream", "an event stream becomes no dictionary"),
        ("identity;reason=ineligible-type", "ineligible-type", "not in compression.types"),
        ("gzip;reason=client-new;not-offered=ineligible-size", "ineligible-size", "longer than max_body"),
    ])
    func `no offer: the advice is that for Dictum's reason`(explain: String, reason: String, advice: String)
        throws
    {
        for control in ["max-age=600", "private, max-age=600"] {
            let found = try SeenURL.problems { seen in
                seen.fields["Use-As-Dictionary"] = nil
                seen.fields["Cache-Control"] = control
                seen.change(.held) {
                    $0.fields["Content-Encoding"] = nil
                    $0.fields["Dictum-Explain"] = explain
                }
            }
            #expect(found == [.notOffered(reason: reason)])
            let text = found.first?.text ?? ""
            #expect(text.contains(advice) && !text.contains("check that Dictum"), "\(text)")
        }
    }

    @Test func `a response of one user needs the script on its page, and nothing that makes it public`() {
        var headers = Headers()
        headers.append(.cacheControl, "no-cache")
        var judgement = ResponseJudgement(headers: headers, receivedAt: SeenURL.receivedAt)
        #expect(judgement.findings == [.unkept(.noCache), .notAnnounceable(.notPublic)])
        let unknown = judgement.findings.map(\.text).joined(separator: "\n")
        #expect(unknown.contains("or, if the response says public, announce") && unknown.contains("--cookie"))
        (judgement.credentials, judgement.changesEachTime) = (.cookie, true)
        let line = TwinLine(path: "/inbox", hasAuthorization: false)
        judgement.line = line
        #expect(judgement.findings == [.needsTwin(.noCache, seconds: judgement.remainingSeconds, line)])
        let own = judgement.findings.map(\.text).joined(separator: "\n")
        #expect(own.contains(#"<script src="/.dictum/own.js" data-paths="/inbox" async></script>"#))
        #expect(!own.contains("announce") && !own.contains("--cookie") && !own.contains("public"))
    }

    @Test func `an offer that cannot be read, that is no pattern, and that is for other URLs`() throws {
        let cases: [(String, DoctorFinding)] = [
            ("match=/feed", .offerMalformed("match=/feed")),
            (#"match="/feed", type=other"#, .offerMalformed(#"match="/feed", type=other"#)),
            (#"match="/:id([0-9]+)""#, .matchInvalid("/:id([0-9]+)")),
            (#"match="https://other.test/feed""#, .matchInvalid("https://other.test/feed")),
            (#"match="/other""#, .matchElsewhere("/other")),
            (#"match="/feed?v=1""#, .matchElsewhere("/feed?v=1")),
        ]
        for (value, finding) in cases {
            #expect(try SeenURL.problems { $0.fields["Use-As-Dictionary"] = value } == [finding])
        }
    }

    @Test(arguments: [
        ("no-store", UnkeptReason.noStore), ("no-cache", .noCache), ("max-age=0", .expired),
        ("s-maxage=60", .sharedOnly), ("public", .noLifetime),
    ])
    func `a freshness that no browser keeps`(cacheControl: String, reason: UnkeptReason) throws {
        // Responses that are not public cannot be announced; responses that nobody may keep need no announcement.
        let rest: [DoctorFinding] =
            [.noStore, .sharedOnly, .noLifetime].contains(reason) ? [] : [.notAnnounceable(.notPublic)]
        #expect(
            try SeenURL.problems { $0.fields["Cache-Control"] = cacheControl } == [.unkept(reason)] + rest)
        // Chromium has `ttl` behind a flag.
        let helped = try SeenURL.problems {
            $0.fields["Cache-Control"] = cacheControl
            $0.fields["Use-As-Dictionary"] = #"match="/feed", ttl=600"#
        }
        #expect(helped == [.ttlIgnored(600), .unkept(reason)] + rest)
    }

    @Test func `what no page can announce is told where the response's own life is too short`() throws {
        let change = { (seen: inout SeenURL) in seen.fields["Cache-Control"] = "public, max-age=10" }
        #expect(try SeenURL.problems(change) == [.shortLife(10)])
        let cookie = try SeenURL.problems {
            change(&$0)
            $0.fields["Set-Cookie"] = "a=b"
        }
        #expect(cookie == [.shortLife(10), .notAnnounceable(.setsCookie)])
        let changing = try SeenURL.problems {
            change(&$0)
            for (index, request) in $0.requests.enumerated() {
                $0.requests[index].change = { response in
                    request.change(&response)
                    response.plain = feed(index)
                }
            }
        }
        #expect(changing.starts(with: [.shortLife(10), .notAnnounceable(.changesEachTime)]))
        var seen = SeenURL()
        change(&seen)
        var observations = try seen.observations()
        observations.credentials = .cookie
        #expect(Diagnosis(observations).findings.contains(.notAnnounceable(.credentials)))
        #expect(try SeenURL.problems { $0.fields["Cache-Control"] = "private, max-age=600" } == [])
    }

    @Test func `a life under a minute is a warning, stale-while-revalidate counts, and so does Age`() throws {
        #expect(
            try SeenURL.problems { $0.fields["Cache-Control"] = "max-age=59" } == [
                .shortLife(59), .notAnnounceable(.notPublic),
            ])
        #expect(try SeenURL.problems { $0.fields["Cache-Control"] = "max-age=60" } == [])
        #expect(
            try SeenURL.problems { $0.fields["Cache-Control"] = "max-age=0, stale-while-revalidate=60" } == []
        )
        #expect(
            try SeenURL.problems { $0.fields["Age"] = "600" } == [
                .unkept(.expired), .notAnnounceable(.notPublic),
            ])
    }

    @Test func `a Link whose dictionary does not come`() throws {
        var seen = SeenURL()
        seen.fields["Use-As-Dictionary"] = nil
        var observations = try seen.observations()
        observations.isDocument = true
        observations.unlinked = ("/.dictum/a/b", "the response is 404")
        let diagnosis = Diagnosis(observations)
        #expect(diagnosis.findings.contains(.linkFailed("/.dictum/a/b", why: "the response is 404")))
        #expect(!diagnosis.works)
    }

    @Test(arguments: [
        ("no-store", "", UnofferedReason.noStore), ("private, max-age=60", "", .isPrivate),
        ("max-age=60", "*", .varyAny),
    ])
    func `what the response itself says comes before any guess`(
        cacheControl: String, vary: String, reason: UnofferedReason
    ) throws {
        let found = try SeenURL.problems { seen in
            seen.fields["Use-As-Dictionary"] = nil
            seen.fields["Cache-Control"] = cacheControl
            if !vary.isEmpty { seen.fields["Vary"] = vary }
            seen.change(.held) { $0.fields["Content-Encoding"] = nil }
        }
        #expect(found == [.notOfferable(reason)])
    }

    // MARK: Pages and browsers

    @Test func `a page of another site gets nothing, one of the same site needs CORS`() throws {
        func problems(_ page: PageOrigin, _ change: (inout SeenURL) -> Void = { _ in }) throws
            -> [DoctorFinding]
        {
            var seen = SeenURL()
            change(&seen)
            var observations = try seen.observations()
            observations.page = page
            return Diagnosis(observations).findings.filter { $0.level == .problem }
        }
        #expect(try problems(.sameOrigin) == [])
        #expect(try problems(.crossSite) == [.crossSite])
        #expect(try problems(.sameSite) == [.corsMissing])
        #expect(try problems(.sameSite) { $0.fields["Access-Control-Allow-Origin"] = "*" } == [])
        // Such a page gets no offer, so the missing offer needs no other explanation.
        let silent = try problems(.crossSite) { seen in
            seen.fields["Use-As-Dictionary"] = nil
            seen.change(.held) { $0.fields["Content-Encoding"] = nil }
        }
        #expect(silent == [.crossSite])
    }

    @Test(arguments: [
        ("https://a.test/x", "https://a.test/y", PageOrigin.sameOrigin),
        ("https://a.test:444/", "https://a.test/", .sameSite),
        ("https://app.a.test/", "https://api.a.test/", .sameSite),
        ("http://a.test/", "https://a.test/", .crossSite),
        ("https://a.test/", "https://b.test/", .crossSite),
        ("http://localhost/", "http://127.0.0.1/", .crossSite),
        ("http://127.0.0.1:1/", "http://127.0.0.1:2/", .sameSite),
        ("http://10.0.0.1/", "http://11.0.0.1/", .crossSite),
    ])
    func `a page is told from its URL`(page: String, url: String, origin: PageOrigin) throws {
        #expect(try PageOrigin(of: FetchURL(page), fetching: FetchURL(url)) == origin)
    }

    private static func fetch(_ number: Int, _ status: Int, _ advertised: Bool, _ coding: String)
        -> DoctorBrowser.Fetch
    {
        DoctorBrowser.Fetch(number: number, status: status, advertised: advertised, coding: coding)
    }

    @Test(arguments: [
        ([fetch(1, 200, false, "zstd"), fetch(2, 200, true, "dcz")], DoctorFinding.browserUsed(1, of: 2)),
        ([fetch(1, 200, false, "zstd"), fetch(2, 200, true, "zstd")], .browserNoDelta(2)),
        ([fetch(1, 200, false, "zstd"), fetch(2, 200, false, "zstd")], .browserNoDelta(2)),
        ([fetch(1, 200, false, "zstd"), fetch(2, 304, true, "identity")], .browserUnchanged(2)),
        ([fetch(1, 200, false, "zstd"), fetch(2, 304, false, "identity")], .browserNoDelta(2)),
    ])
    func `what a real browser got decides`(fetches: [DoctorBrowser.Fetch], finding: DoctorFinding) throws {
        var observations = try SeenURL().observations()
        observations.browser = .success(fetches)
        let diagnosis = Diagnosis(observations)
        #expect(diagnosis.findings.last == finding)
        #expect(diagnosis.works == (finding.level != .problem))
        observations.browser = .failure(CommandError("none"))
        #expect(Diagnosis(observations).findings.last == .browserFailed("none"))
    }

    @Test(arguments: [
        ("redis://a:1", true), ("rediss://a", true), ("VALKEY://a", true), ("unix:///redis", true),
        ("unix:/redis", true),
        ("redis.example.com:8080/feed", false), ("redis.example.com/?u=http://a", false),
        ("http://redis/", false),
        ("unix.example.com:80/", false),
    ])
    func `a URL is that of a Redis server by its scheme`(url: String, isRedis: Bool) {
        #expect(SharedStoreExamination.isFor(url) == isRedis)
    }
}
