internal import Dictionaries
internal import Foundation
internal import HTTP
internal import TestSupport
internal import Testing

@testable internal import dictum

/// Each finding by what it follows from, without any connection.
struct DiagnosisTests {
    private static let used = DoctorFinding.used(
        .dcz, wireBytes: coded(SeenURL.body, .dcz, over: SeenURL.body).count, bodyBytes: SeenURL.body.count)
    private static let offered = DoctorFinding.offered(match: "/feed", seconds: 600)

    private func problems(_ change: (inout SeenURL) -> Void) throws -> [DoctorFinding] {
        var seen = SeenURL()
        change(&seen)
        let diagnosis = try seen.diagnosis()
        let problems = diagnosis.findings.filter { $0.level != .good }
        #expect(diagnosis.works == problems.allSatisfy { $0.level == .warning })
        return problems
    }

    @Test func `where all is well the findings say so`() throws {
        let diagnosis = try SeenURL().diagnosis()
        #expect(diagnosis.findings == [.systemAuthority, Self.offered, Self.used])
        #expect(diagnosis.works)
    }

    // MARK: The way there

    @Test func `http, a private authority and one that nobody trusts are problems; this machine is none`()
        throws
    {
        #expect(try problems { $0.transport = .plain } == [.insecureTransport])
        #expect(try problems { $0.transport = .privateAuthority } == [.privateAuthority])
        #expect(try problems { $0.transport = .loopback } == [])
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
        #expect(DoctorTransport.isLoopback(host) == isLoopback)
    }

    @Test func `an exchange that fails, and a status other than 200`() throws {
        var observations = try SeenURL().observations()
        observations.probes = []
        observations.failure = .exchange(.truncated)
        let findings = Diagnosis(observations).findings
        #expect(findings == [.systemAuthority, .noResponse("\(FetchError.exchange(.truncated))")])
        #expect(!Diagnosis(observations).works)
        #expect(
            try problems { $0.change(.nothing) { $0.status = 401 } } == [.status(401, location: nil)])
        let moved = try problems {
            $0.change(.nothing) {
                $0.status = 302
                $0.fields["Location"] = "/new"
            }
        }
        #expect(moved == [.status(302, location: "/new")])
    }

    // MARK: The offer

    @Test func `no offer: stripped where the server codes all the same, else with Dictum's reason`() throws {
        #expect(try problems { $0.fields["Use-As-Dictionary"] = nil } == [.offerStripped])
        let none = try problems { seen in
            seen.fields["Use-As-Dictionary"] = nil
            seen.change(.held) { $0.fields["Content-Encoding"] = nil }
        }
        #expect(none == [.notOffered(reason: nil)])
        let insecure = try problems { seen in
            seen.fields["Use-As-Dictionary"] = nil
            seen.change(.held) {
                $0.fields["Content-Encoding"] = nil
                $0.fields["Dictum-Explain"] = "gzip;reason=insecure-transport"
            }
        }
        #expect(insecure == [.forwardedAsInsecure])
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
            #expect(try problems { $0.fields["Use-As-Dictionary"] = value } == [finding])
        }
    }

    @Test(arguments: [
        ("no-store", UnkeptReason.noStore), ("no-cache", .noCache), ("max-age=0", .expired),
        ("s-maxage=60", .sharedOnly), ("public", .noLifetime),
    ])
    func `a freshness that no browser keeps`(cacheControl: String, reason: UnkeptReason) throws {
        // What is not public cannot be announced, and what nobody may keep has nothing to be announced.
        let rest: [DoctorFinding] =
            [.noStore, .sharedOnly, .noLifetime].contains(reason) ? [] : [.notAnnounceable(.notPublic)]
        #expect(try problems { $0.fields["Cache-Control"] = cacheControl } == [.unkept(reason)] + rest)
        // Chromium knows `ttl` behind a flag only.
        let helped = try problems {
            $0.fields["Cache-Control"] = cacheControl
            $0.fields["Use-As-Dictionary"] = #"match="/feed", ttl=600"#
        }
        #expect(helped == [.ttlIgnored(600), .unkept(reason)] + rest)
    }

    @Test func `what no page can announce is told where the response's own life is too short`() throws {
        let change = { (seen: inout SeenURL) in seen.fields["Cache-Control"] = "public, max-age=10" }
        #expect(try problems(change) == [.shortLife(10)])
        let cookie = try problems {
            change(&$0)
            $0.fields["Set-Cookie"] = "a=b"
        }
        #expect(cookie == [.shortLife(10), .notAnnounceable(.setsCookie)])
        let changing = try problems {
            change(&$0)
            for (index, request) in $0.requests.enumerated() {
                $0.requests[index].change = { answer in
                    request.change(&answer)
                    answer.plain = feed(index)
                }
            }
        }
        #expect(changing.starts(with: [.shortLife(10), .notAnnounceable(.changesEachTime)]))
        var seen = SeenURL()
        change(&seen)
        var observations = try seen.observations()
        observations.hasCredentials = true
        #expect(Diagnosis(observations).findings.contains(.notAnnounceable(.credentials)))
        #expect(try problems { $0.fields["Cache-Control"] = "private, max-age=600" } == [])
    }

    @Test func `a life under a minute is a warning, stale-while-revalidate counts, and so does Age`() throws {
        #expect(
            try problems { $0.fields["Cache-Control"] = "max-age=59" } == [
                .shortLife(59), .notAnnounceable(.notPublic),
            ])
        #expect(try problems { $0.fields["Cache-Control"] = "max-age=60" } == [])
        #expect(
            try problems { $0.fields["Cache-Control"] = "max-age=0, stale-while-revalidate=60" } == [])
        #expect(
            try problems { $0.fields["Age"] = "600" } == [.unkept(.expired), .notAnnounceable(.notPublic)])
    }

    @Test func `a Link whose dictionary does not come`() throws {
        var seen = SeenURL()
        seen.fields["Use-As-Dictionary"] = nil
        var observations = try seen.observations()
        observations.isDocument = true
        observations.unlinked = ("/.dictum/a/b", "the response is 404")
        let diagnosis = Diagnosis(observations)
        #expect(diagnosis.findings.contains(.linkFailed("/.dictum/a/b", why: "the answer is 404")))
        #expect(!diagnosis.works)
    }

    @Test(arguments: [
        ("no-store", "", UnofferedReason.noStore), ("private, max-age=60", "", .isPrivate),
        ("max-age=60", "*", .varyAny),
    ])
    func `what the response itself says comes before any guess`(
        cacheControl: String, vary: String, reason: UnofferedReason
    ) throws {
        let found = try problems { seen in
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
        // Nothing is offered to it then, and nothing else is guessed.
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
        observations.browser = .failure(.init(text: "none"))
        #expect(Diagnosis(observations).findings.last == .browserFailed("none"))
    }

    // MARK: The use

    @Test(arguments: [
        ("no-dictionary-offered", DoctorFinding.availableDictionaryStripped),
        ("coding-not-accepted", .codingsStripped), ("insecure-transport", .forwardedAsInsecure),
        ("dictionary-unknown", .notUsed(reason: "dictionary-unknown")), ("", .notUsed(reason: nil)),
    ])
    func `a dictionary that is offered and not used`(reason: String, finding: DoctorFinding) throws {
        let found = try problems {
            $0.change(.held) {
                $0.fields["Content-Encoding"] = nil
                if !reason.isEmpty { $0.fields["Dictum-Explain"] = "identity;reason=\(reason);micros=1" }
            }
        }
        #expect(found == [finding])
    }

    @Test func `a dictionary that only some instances have is a warning`() throws {
        let found = try problems { $0.requests[1].change = { $0.fields["Content-Encoding"] = nil } }
        #expect(found == [.notAlwaysUsed(used: 1, asked: 2)])
    }

    @Test func `a body for another dictionary, one that breaks off, and one in an unknown coding`() throws {
        let foreign = coded(SeenURL.body, .dcz, over: feed(7))
        #expect(try problems { $0.change(.held) { $0.wire = foreign } } == [.wrongHash(.dcz)])
        let whole = coded(SeenURL.body, .dcz, over: SeenURL.body)
        let cut = try problems { $0.change(.held) { $0.wire = Array(whole.dropLast(3)) } }
        #expect(cut.count == 1)
        guard case .undecodable? = cut.first else { return #expect(Bool(false), "\(cut)") }
        let unknown = try problems { $0.change(.nothing) { $0.fields["Content-Encoding"] = "lzma" } }
        #expect(unknown == [.undecodable("\(FetchError.unknownCoding("lzma"))")])
    }

    @Test func `a delta that gives another body than the plain answers around it`() throws {
        #expect(try problems { $0.change(.held) { $0.plain = feed(2) } } == [.otherBody])
        // Where the plain ones differ among themselves nothing can be said of it.
        let changing = try problems {
            $0.change(.held) { $0.plain = feed(2) }
            $0.requests[2].change = { $0.plain = feed(3) }
        }
        #expect(changing == [])
    }

    // MARK: Caches

    @Test(arguments: [
        ("Accept-Encoding", ["Available-Dictionary"]), ("available-dictionary", ["Accept-Encoding"]),
        ("Origin", ["Accept-Encoding", "Available-Dictionary"]),
    ])
    func `Vary that leaves something out, on whichever answer`(vary: String, missing: [String]) throws {
        for index in 0..<6 {
            let found = try problems { $0.requests[index].change = { $0.fields["Vary"] = vary } }
            #expect(found == [.varyMissing(missing)])
        }
        #expect(try problems { $0.fields["Vary"] = vary } == [.varyMissing(missing)])
    }

    @Test(arguments: [
        ("Age", "3"), ("X-Cache", "Hit from cloudfront"), ("CF-Cache-Status", "HIT"),
        ("Cache-Status", "edge; hit"),
    ])
    func `a cache that gives one variant to all`(name: String, value: String) throws {
        let plain = try problems {
            $0.change(.held) {
                $0.fields["Content-Encoding"] = nil
                $0.fields[name] = value
            }
        }
        #expect(plain == [.cacheIgnoresVary])
        let foreign = coded(SeenURL.body, .dcz, over: feed(7))
        let other = try problems {
            $0.change(.held) {
                $0.wire = foreign
                $0.fields[name] = value
            }
        }
        #expect(other == [.mixed])
    }

    @Test(arguments: [
        ("Age", "0"), ("X-Cache", "Miss from cloudfront"), ("Cache-Status", "edge; fwd=uri-miss"),
    ])
    func `a cache that has passed the request on is not to blame`(name: String, value: String) throws {
        let found = try problems {
            $0.change(.held) {
                $0.fields["Content-Encoding"] = nil
                $0.fields[name] = value
            }
        }
        #expect(found == [.notUsed(reason: nil)])
    }

    @Test(arguments: [DoctorProbe.Offer.nothing, .unknown])
    func `a delta for a client that does not hold its dictionary`(offer: DoctorProbe.Offer) throws {
        let found = try problems { seen in
            guard let index = seen.requests.lastIndex(where: { $0.offer == offer }) else { return }
            seen.requests[index].change = { $0.fields["Content-Encoding"] = "dcz" }
        }
        #expect(found == [.mixed])
    }

    @Test func `what varies from client to client is a warning, and cookies are named`() throws {
        #expect(
            try problems { $0.fields["Vary", default: ""] += ", User-Agent" } == [.variesWidely("user-agent")]
        )
        var seen = SeenURL()
        seen.fields["Set-Cookie"] = "AWSALB=x; Path=/"
        #expect(Diagnosis(try seen.observations()).findings.contains(.setsHarmlessCookie(["AWSALB"])))
        seen.fields["Set-Cookie"] = "sid=x"
        #expect(Diagnosis(try seen.observations()).findings.contains(.setsCookie(["sid"])))
    }

    @Test func `a body that is another each time is a warning`() throws {
        let found = try problems { seen in
            for index in seen.requests.indices {
                seen.requests[index].change = { $0.plain = feed(10 + index) }
            }
        }
        #expect(found == [.changesEachTime])
    }

    // MARK: What is said

    @Test func `each finding is one line of its own`() throws {
        let all: [DoctorFinding] = [
            .loopback, .systemAuthority, .insecureTransport, .privateAuthority, .untrusted("x"),
            .noResponse("x"),
            .status(404, location: nil), .status(302, location: "/"), Self.offered, .shortLife(1),
            .linked(target: "/l", match: "/", seconds: 90_000), .notOffered(reason: nil),
            .notOffered(reason: "x"),
            .offerStripped, .offerMalformed("x"), .matchInvalid("x"), .matchElsewhere("x"), .unkept(.noCache),
            .unkept(.noStore), .unkept(.varyAny), .linkFailed("/l", why: "x"), Self.used,
            .availableDictionaryStripped, .codingsStripped, .forwardedAsInsecure, .notUsed(reason: nil),
            .notUsed(reason: "x"), .notAlwaysUsed(used: 1, asked: 2), .wrongHash(.dcz), .undecodable("x"),
            .otherBody, .notOfferable(.noStore), .notOfferable(.isPrivate), .notOfferable(.varyAny),
            .linkNotFollowed("/l"), .ttlIgnored(600), .crossSite, .corsMissing, .sameSite,
            .browserUsed(1, of: 2),
            .notAnnounceable(.changesEachTime), .notAnnounceable(.notPublic), .notAnnounceable(.setsCookie),
            .notAnnounceable(.credentials), .browserNoDelta(2), .browserUnchanged(2),
            .browserFailed("because"),
            .varyMissing(["Vary"]), .cacheIgnoresVary, .mixed, .changesEachTime,
        ]
        #expect(Set(all.map(\.text)).count == all.count)
        for finding in all {
            #expect(!finding.text.contains("\n"))
            #expect(finding.text != finding.name && !finding.name.contains(" "))
        }
    }

    @Test func `what servers say reaches no terminal as it is`() throws {
        var seen = SeenURL()
        seen.fields["Use-As-Dictionary"] = "match=\u{1B}[2J"
        let report = DoctorReport(try seen.diagnosis(), of: try FetchURL(SeenURL.url))
        #expect(report.lines.allSatisfy { !$0.contains("\u{1B}") })
    }
}
