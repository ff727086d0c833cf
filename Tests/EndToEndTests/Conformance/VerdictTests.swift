internal import Dictionaries
internal import HTTP
internal import Testing

@testable internal import dictum

/// The judge's rules, without a client.
@Suite struct VerdictTests {
    private static let bodies = JudgeBodies([.offer("/feed"), Self.delta, .fetch("/other", names: .nothing)])
    private static let delta = Step.fetch("/feed?2", names: .body(of: "/feed"))
    private static let right = Delivered.body(bodies["/feed?2"]?.digest ?? Body([]).digest)
    private static let wrong = Delivered.body(Body([]).digest)

    /// A request for the delta as it should be, with something else about it.
    private static func seen(_ change: (inout SeenRequest) -> Void = { _ in }) -> SeenRequest {
        var request = SeenRequest(path: "/feed?2", isElsewhere: false)
        (request.named, request.id, request.coding) = ("/feed", "one", .dcz)
        change(&request)
        return request
    }

    private static func verdict(_ step: Step, _ seen: [SeenRequest], _ delivered: Delivered) -> String {
        switch step.verdict(seen, delivered, bodies, idOf: { $0 == "/feed" ? "one" : nil }) {
        case .pass: "pass"
        case .fail(let text): "fail: \(text)"
        case .notTried(let text): "not tried: \(text)"
        }
    }

    @Test func `a delta over the dictionary that was offered passes, with its id and the right body`() {
        #expect(Self.verdict(Self.delta, [Self.seen()], Self.right) == "pass")
    }

    @Test(arguments: [
        (Self.seen { $0.id = nil }, "fail: /feed?2: Dictionary-ID: expected one, came none"),
        (Self.seen { $0.id = "two" }, "fail: /feed?2: Dictionary-ID: expected one, came two"),
        (
            Self.seen { ($0.named, $0.id) = ("/other", nil) },
            "fail: /feed?2: expected the body of /feed to be named, came /other"
        ),
        (
            Self.seen { ($0.named, $0.id, $0.namesUnknown) = (nil, nil, true) },
            "fail: /feed?2: Available-Dictionary: expected the SHA-256 of a body, or no field"
        ),
        (Self.seen { ($0.named, $0.id) = (nil, nil) }, "not tried: /feed?2 does not name /feed"),
        (Self.seen { $0.coding = .identity }, "not tried: /feed?2 accepts no coding for this dictionary"),
    ])
    func `a request must name the dictionary and its id, and may name none`(
        request: SeenRequest, expected: String
    ) {
        #expect(Self.verdict(Self.delta, [request], Self.right) == expected)
    }

    @Test func `a body that is not the server's fails, and so does an error`() {
        #expect(
            Self.verdict(Self.delta, [Self.seen()], Self.wrong)
                == "fail: /feed?2: expected the body, came another one")
        #expect(
            Self.verdict(Self.delta, [Self.seen()], .nothing("exit status 1"))
                == "fail: /feed?2: expected the body, came exit status 1")
    }

    @Test func `a request that did not come is no failure`() {
        #expect(Self.verdict(Self.delta, [], Self.right) == "not tried: /feed?2 was not asked for")
        let elsewhere = Self.seen { $0.isElsewhere = true }
        #expect(Self.verdict(Self.delta, [elsewhere], Self.right) == "not tried: /feed?2 was not asked for")
    }

    @Test func `where no dictionary may be named, one that is named fails`() {
        let step = Step.fetch("/feed?2", names: .nothing)
        #expect(
            Self.verdict(step, [Self.seen()], Self.right)
                == "fail: /feed?2: expected no dictionary to be named, came the body of /feed")
        let plain = Self.seen { ($0.named, $0.id, $0.coding) = (nil, nil, .identity) }
        #expect(Self.verdict(step, [plain], Self.right) == "pass")
    }

    @Test func `a first request that accepts codings over dictionaries fails`() {
        let step = Step.fetch("/feed?2", names: .nothingYet)
        let plain = Self.seen { ($0.named, $0.id, $0.coding) = (nil, nil, .identity) }
        #expect(Self.verdict(step, [plain], Self.right) == "pass")
        var eager = plain
        eager.acceptsDictionaries = true
        #expect(
            Self.verdict(step, [eager], Self.right)
                == "fail: /feed?2: Accept-Encoding: expected no dcb and no dcz without a dictionary")
    }

    @Test func `a damaged delta is an error or costs a retry, and no body comes of it`() {
        let step = Step.fetch("/feed?2", names: .body(of: "/feed"), sends: .damaged(.hash))
        let retry = Self.seen { ($0.named, $0.id, $0.coding) = (nil, nil, .identity) }
        #expect(Self.verdict(step, [Self.seen()], .nothing("exit status 1")) == "pass")
        #expect(Self.verdict(step, [Self.seen(), retry], Self.right) == "pass")
        for (requests, delivered) in [([Self.seen(), retry], Self.wrong), ([Self.seen()], Self.right)] {
            #expect(
                Self.verdict(step, requests, delivered)
                    == "fail: /feed?2: expected an error or a second request, came another body")
        }
    }

    @Test func `a damaged delta that the client does not accept is not tried`() {
        let step = Step.fetch("/feed?2", names: .body(of: "/feed"), sends: .damaged(.hash))
        let plain = Self.seen { $0.coding = .identity }
        #expect(
            Self.verdict(step, [plain], Self.right)
                == "not tried: /feed?2 accepts no coding for this dictionary")
    }

    @Test func `clients without destinations may name a dictionary for scripts`() {
        let step = Step.fetch("/feed?2", names: .onlyWithoutDestinations("/feed"))
        let plain = Self.seen { ($0.named, $0.id, $0.coding) = (nil, nil, .identity) }
        #expect(Self.verdict(step, [Self.seen()], Self.right) == "pass")
        #expect(Self.verdict(step, [plain], Self.right) == "pass")
        let other = Self.seen { ($0.named, $0.id) = ("/other", nil) }
        #expect(Self.verdict(step, [other], Self.right).hasPrefix("fail: "))
    }

    @Test(arguments: [
        (1_999, "max-age=3", false), (2_000, "max-age=3", true), (60_000, "max-age=600", false),
    ])
    func `an offer that lives for seconds is late at the age of two`(
        milliseconds: Int64, life: String, expected: Bool
    ) {
        let offer = Step.offer("/feed?2", life: life)
        let seen = Self.seen { $0.respondedAt = 7 }
        #expect(offer.isLate([seen], now: 7 + milliseconds * 1_000_000) == expected)
        #expect(!offer.later.isLate([seen], now: 7 + milliseconds * 1_000_000), "nothing comes after it")
        #expect(!offer.isLate([], now: milliseconds * 1_000_000))
    }

    @Test func `the latest response of the offer tells whether it is late`() {
        let offer = Step.offer("/feed?2", life: "max-age=3")
        let second: Int64 = 1_000_000_000
        let (early, latest) = (Self.seen(), Self.seen { $0.respondedAt = 5 * second })
        #expect(!offer.isLate([early, latest], now: 6 * second))
        #expect(offer.isLate([early, latest], now: 7 * second))
    }

    @Test func `what is tried over HTTP2 or with a condition is not tried otherwise`() {
        let overHTTP2 = Self.delta.with { $0.needsHTTP2 = true }
        #expect(Self.verdict(overHTTP2, [Self.seen()], Self.right).hasPrefix("not tried: came over "))
        #expect(Self.verdict(overHTTP2, [Self.seen { $0.version = .http2 }], Self.right) == "pass")
        let confirmed = Self.delta.with { $0.needsConfirmation = true }
        #expect(
            Self.verdict(confirmed, [Self.seen()], Self.right)
                == "not tried: /feed?2 was asked for without If-None-Match")
        #expect(Self.verdict(confirmed, [Self.seen { $0.status = .notModified }], Self.right) == "pass")
    }

    @Test func `nobody must take a body of more than 8 MiB, but what comes must be right`() {
        let lost = Delivered.nothing("exit status 1")
        let most = Self.delta.with { $0.bytes = 8 << 20 }
        let larger = Self.delta.with { $0.bytes = (8 << 20) + 1 }
        #expect(
            Self.verdict(most, [Self.seen()], lost) == "fail: /feed?2: expected the body, came exit status 1")
        #expect(Self.verdict(larger, [Self.seen()], lost) == "not tried: /feed?2 is too large")
        #expect(
            Self.verdict(larger, [Self.seen()], Self.wrong)
                == "fail: /feed?2: expected the body, came another one")
    }

    @Test func `a delta that nobody asked for is an error, even if it leads to the right body`() {
        let step = Step.fetch("/feed?2", names: .nothing, sends: .unasked)
        let plain = Self.seen { ($0.named, $0.id) = (nil, nil) }
        #expect(Self.verdict(step, [plain], .nothing("exit status 1")) == "pass")
        #expect(Self.verdict(step, [plain], Self.right) == "fail: /feed?2: expected an error, came a body")
    }

    @Test func `the bomb is a delta of a few KiB that decodes up to any limit`() throws {
        let dictionary = try #require(Self.bodies["/feed"])
        let bomb = try #require(
            JudgeBodies.coded(dictionary, .dcz, over: dictionary, as: .damaged(.bomb)))
        #expect(bomb.count < 16 << 10)
        let limits = DecoderLimits(maxBytes: 16 << 20, maxRatio: 1 << 20)
        let error = #expect(throws: CodingError.self) {
            try Codec.decode(bomb.span, .dcz, dictionary: dictionary, limits: limits)
        }
        #expect(error?.stage == .limit, "\(String(describing: error))")
    }

    @Test func `one failure fails a rule, and one step that was not tried leaves it so`() {
        let rule = ClientRule(name: "a", section: "b", text: "c", steps: [])
        #expect(rule.verdict(of: [.pass, .notTried("x"), .fail("y")], seen: []) == .fail("y"))
        #expect(rule.verdict(of: [.pass, .notTried("x")], seen: []) == .notTried("x"))
        #expect(rule.verdict(of: [.pass, .pass], seen: []) == .pass)
        let advice = ClientRule(name: "a", section: "b", text: "c", steps: [], isAdvice: true)
        #expect(advice.verdict(of: [.fail("y")], seen: []) == .notTried("y"))
    }

    @Test func `what a client asks for by itself is judged, too, and needed`() {
        let rule = ClientRule(
            name: "a", section: "b", text: "c", steps: [], others: [.fetch("/feed?2", names: .nothing)],
            needed: "/feed?2")
        #expect(rule.verdict(of: [.pass], seen: []) == .notTried("/feed?2 was not asked for"))
        guard case .fail = rule.verdict(of: [.pass], seen: [Self.seen { $0.id = nil }]) else {
            Issue.record("a dictionary was named")
            return
        }
    }

    @Test func `every rule has a name, paths and a section of its own kind`() {
        let rules = ClientRule.all
        #expect(Set(rules.map(\.name)).count == rules.count)
        for rule in rules {
            #expect(
                rule.isAdvice == (rule.section == "advice") && rule.section.hasPrefix("RFC ") != rule.isAdvice
            )
            let others = rules.filter { $0.name != rule.name }.flatMap { $0.steps + $0.others }.map(\.path)
            #expect(Set(others).isDisjoint(with: (rule.steps + rule.others).map(\.path)), "\(rule.name)")
        }
    }
}
