internal import Dictionaries
internal import HTTP
internal import TestSupport
internal import Testing

@testable internal import dictum

/// The findings about use and caches and the texts of all, without any connection.
struct DiagnosisUseTests {
    // MARK: The use

    @Test(arguments: [
        ("client-new", DoctorFinding.availableDictionaryStripped),
        ("dictionary-not-kept", .availableDictionaryStripped),
        ("coding-not-accepted", .codingsStripped), ("insecure-transport", .forwardedAsInsecure),
        ("dictionary-unknown", .notUsed(reason: "dictionary-unknown")), ("", .notUsed(reason: nil)),
    ])
    func `a dictionary that is offered and not used`(reason: String, finding: DoctorFinding) throws {
        let found = try SeenURL.problems {
            $0.change(.held) {
                $0.fields["Content-Encoding"] = nil
                if !reason.isEmpty { $0.fields["Dictum-Explain"] = "identity;reason=\(reason);micros=1" }
            }
        }
        #expect(found == [finding])
    }

    @Test func `a dictionary that only some instances have is a warning`() throws {
        let found = try SeenURL.problems { $0.requests[1].change = { $0.fields["Content-Encoding"] = nil } }
        #expect(found == [.notAlwaysUsed(used: 1, asked: 2)])
    }

    @Test func `a user's dictionary that a newer body has replaced is no sign of several instances`() throws {
        var seen = SeenURL()
        for index in 2..<6 { seen.requests[index].change = { $0.plain = feed(2) } }
        seen.requests[4].change = {
            $0.plain = feed(2)
            $0.fields["Content-Encoding"] = nil
            $0.fields["Dictum-Explain"] = "identity;reason=dictionary-unknown"
        }
        var observations = try seen.observations()
        let shared = DoctorFinding.notAlwaysUsed(used: 1, asked: 2)
        #expect(Diagnosis(observations).findings.contains(shared))
        observations.credentials = .cookie
        let own = DoctorFinding.notAlwaysUsed(used: 1, asked: 2, mayBeReplaced: true)
        #expect(Diagnosis(observations).findings.contains(own))
        #expect(own.text.contains("`private_versions`") && !shared.text.contains("private_versions"))
    }

    @Test func `a body for another dictionary, one that breaks off, and one in an unknown coding`() throws {
        let foreign = coded(SeenURL.body, .dcz, over: feed(7))
        #expect(try SeenURL.problems { $0.change(.held) { $0.wire = foreign } } == [.wrongHash(.dcz)])
        let whole = coded(SeenURL.body, .dcz, over: SeenURL.body)
        let cut = try SeenURL.problems { $0.change(.held) { $0.wire = Array(whole.dropLast(3)) } }
        #expect(cut.count == 1)
        guard case .undecodable? = cut.first else { return #expect(Bool(false), "\(cut)") }
        let unknown = try SeenURL.problems { $0.change(.nothing) { $0.fields["Content-Encoding"] = "lzma" } }
        #expect(unknown == [.undecodable("\(FetchError.unknownCoding("lzma"))")])
    }

    @Test func `a delta that gives another body than the plain responses around it`() throws {
        #expect(try SeenURL.problems { $0.change(.held) { $0.plain = feed(2) } } == [.otherBody])
        // If the plain responses differ among themselves, a different delta proves nothing.
        let changing = try SeenURL.problems {
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
    func `Vary that leaves something out, on whichever response`(vary: String, missing: [String]) throws {
        for index in 0..<6 {
            let found = try SeenURL.problems { $0.requests[index].change = { $0.fields["Vary"] = vary } }
            #expect(found == [.varyMissing(missing)])
        }
        #expect(try SeenURL.problems { $0.fields["Vary"] = vary } == [.varyMissing(missing)])
    }

    @Test(arguments: [
        ("Age", "3"), ("X-Cache", "Hit from cloudfront"), ("CF-Cache-Status", "HIT"),
        ("Cache-Status", "edge; hit"),
    ])
    func `a cache that gives one variant to all`(name: String, value: String) throws {
        let plain = try SeenURL.problems {
            $0.change(.held) {
                $0.fields["Content-Encoding"] = nil
                $0.fields[name] = value
            }
        }
        #expect(plain == [.cacheIgnoresVary])
        let foreign = coded(SeenURL.body, .dcz, over: feed(7))
        let other = try SeenURL.problems {
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
        let found = try SeenURL.problems {
            $0.change(.held) {
                $0.fields["Content-Encoding"] = nil
                $0.fields[name] = value
            }
        }
        #expect(found == [.notUsed(reason: nil)])
    }

    @Test(arguments: [DoctorProbe.Offer.nothing, .unknown])
    func `a delta for a client that does not hold its dictionary`(offer: DoctorProbe.Offer) throws {
        let found = try SeenURL.problems { seen in
            guard let index = seen.requests.lastIndex(where: { $0.offer == offer }) else { return }
            seen.requests[index].change = { $0.fields["Content-Encoding"] = "dcz" }
        }
        #expect(found == [.mixed])
    }

    @Test func `what varies from client to client is a warning, and cookies are named`() throws {
        #expect(
            try SeenURL.problems { $0.fields["Vary", default: ""] += ", User-Agent" } == [
                .variesWidely("user-agent")
            ]
        )
        var seen = SeenURL()
        seen.fields["Set-Cookie"] = "AWSALB=x; Path=/"
        #expect(Diagnosis(try seen.observations()).findings.contains(.setsHarmlessCookie(["AWSALB"])))
        seen.fields["Set-Cookie"] = "sid=x"
        #expect(Diagnosis(try seen.observations()).findings.contains(.setsCookie(["sid"])))
    }

    @Test func `a body that is another each time is a warning`() throws {
        let found = try SeenURL.problems { seen in
            for index in seen.requests.indices {
                seen.requests[index].change = { $0.plain = feed(10 + index) }
            }
        }
        #expect(found == [.changesEachTime])
    }

    @Test func `a user's body that is another each time is no warning, and no other body gives two`() throws {
        var seen = SeenURL()
        for index in seen.requests.indices { seen.requests[index].change = { $0.plain = feed(10 + index) } }
        var observations = try seen.observations()
        observations.credentials = .cookie
        #expect(!Diagnosis(observations).findings.contains(.changesEachTime))
        seen.fields["Cache-Control"] = "public, max-age=10"
        let findings = try seen.diagnosis().findings
        #expect(findings.contains(.notAnnounceable(.changesEachTime)) && !findings.contains(.changesEachTime))
        // Nothing is stored of what is no dictionary.
        seen.fields["Use-As-Dictionary"] = nil
        for index in seen.requests.indices {
            seen.requests[index].change = {
                $0.plain = feed(10 + index)
                $0.fields["Content-Encoding"] = nil
            }
        }
        #expect(!(try seen.diagnosis().findings.contains(.changesEachTime)))
    }

    // MARK: Texts

    @Test func `each finding is one line of its own`() throws {
        let all: [DoctorFinding] = [
            .loopback, .systemAuthority, .insecureTransport, .privateAuthority, .untrusted("x"),
            .noResponse("x"),
            .status(404, location: nil), .status(302, location: "/"), SeenURL.offered, .shortLife(1),
            .linked(target: "/l", match: "/", seconds: 90_000), .notOffered(reason: nil),
            .notOffered(reason: "x"), .notOffered(reason: "event-stream"),
            .needsTwin(.noCache, seconds: 0, TwinLine(path: "/a", hasAuthorization: false)),
            .needsTwin(nil, seconds: 9, TwinLine(path: "/a", hasAuthorization: true)),
            .notAlwaysUsed(used: 1, asked: 2, mayBeReplaced: true),
            .offerStripped, .offerMalformed("x"), .matchInvalid("x"), .matchElsewhere("x"), .unkept(.noCache),
            .unkept(.noStore), .unkept(.varyAny), .linkFailed("/l", why: "x"), SeenURL.used,
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

    /// A control character, and one that turns the direction of what follows.
    @Test(arguments: ["\u{1B}", "\u{202E}"] as [Character])
    func `what servers say reaches no terminal as it is`(character: Character) throws {
        var seen = SeenURL()
        seen.fields["Use-As-Dictionary"] = "match=\(character)[2J"
        let report = DoctorReport(try seen.diagnosis(), of: try FetchURL(SeenURL.url))
        #expect(report.lines.joined().contains("[2J"), "it is shown")
        #expect(report.lines.allSatisfy { !$0.contains(character) })
    }
}
