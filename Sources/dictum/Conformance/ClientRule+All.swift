internal import Dictionaries

/// Every rule that is tried.
///
/// Each rule has paths of its own, so that one client's mistake spoils one rule only.
extension ClientRule {
    static let all = asking + keeping + choosing + apart + decoding + around

    private static let asking = [
        ClientRule(
            name: "first-request", section: "RFC 9842 2.2, 6.1",
            text: "A request without a dictionary names none, and accepts no coding that needs one.",
            steps: [.fetch("/first", names: .nothingYet)]),
        ClientRule(
            name: "delta-zstd", section: "RFC 9842 2.2, 5",
            text: "A body that was offered is named, and decodes a delta in dcz.",
            steps: Step.twice("/zstd", sends: .body([.dcz]))),
        ClientRule(
            name: "delta-brotli", section: "RFC 9842 2.2, 4",
            text: "A body that was offered is named, and decodes a delta in dcb.",
            steps: Step.twice("/brotli", sends: .body([.dcb]))),
        ClientRule(
            name: "three-versions-back", section: "RFC 9842 2.2",
            text: "A dictionary is named for later versions, too, as long as no newer one is offered.",
            steps: [
                .offer("/back"), .fetch("/back?2", names: .body(of: "/back")),
                .fetch("/back?3", names: .body(of: "/back")), .fetch("/back?4", names: .body(of: "/back")),
            ]),
        ClientRule(
            name: "delta-is-dictionary", section: "RFC 9842 2.1, 2.2",
            text: "A response that came as a delta is the next dictionary, by the hash of its decoded body.",
            steps: [
                .offer("/chain?1", #"match="/chain""#),
                .offer("/chain?2", #"match="/chain""#, names: .body(of: "/chain?1")),
                .fetch("/chain?3", names: .body(of: "/chain?2")),
            ]),
        ClientRule(
            name: "id", section: "RFC 9842 2.3",
            text: "Dictionary-ID returns the id as it was given, and is absent where none was.",
            steps: Step.twice("/id", #"match="/id", id="a \"b\" \\c""#)),
        ClientRule(
            name: "other-id", section: "RFC 9842 2.3",
            text: "A newer response with another id replaces dictionary and id.",
            steps: [
                .offer("/ids?1", #"match="/ids", id="one""#), .offer("/ids?2", #"match="/ids", id="two""#),
                .fetch("/ids?3", names: .body(of: "/ids?2")),
            ]),
    ]

    /// Which response is a dictionary, and for how long.
    private static let keeping = [
        ClientRule(
            name: "stale", section: "RFC 9842 2.2.1",
            text: "A dictionary is not named once its response is stale.",
            steps: Step.twice("/stale", life: Step.briefLife, then: .nothing, later: true)),
        ClientRule(
            name: "age", section: "RFC 9842 2.2.1, RFC 9111 4.2.3",
            text: "The time that a response spent in caches counts (Age).",
            steps: Step.twice("/age", also: [("age", "600")], then: .nothing)),
        ClientRule(
            name: "ttl", section: "advice",
            text: "The member ttl, which Dictum sends, gives a dictionary a life of its own.",
            steps: Step.twice("/ttl", #"match="/ttl", ttl=600"#, life: "no-cache"), isAdvice: true),
        ClientRule(
            name: "must-revalidate", section: "RFC 9842 2.2.1, RFC 9111 5.2.2.2",
            text: "A fresh response with must-revalidate is a dictionary.",
            steps: Step.twice("/must", life: "max-age=600, must-revalidate")),
        ClientRule(
            name: "must-revalidate-stale", section: "RFC 9842 2.2.1, RFC 9111 5.2.2.2",
            text: "A stale response with must-revalidate is none, whatever stale-while-revalidate says.",
            steps: Step.twice(
                "/must-not", life: Step.briefLife + ", stale-while-revalidate=600, must-revalidate",
                then: .nothing, later: true)),
        ClientRule(
            name: "stale-while-revalidate", section: "RFC 9842 2.2.1, RFC 5861 3",
            text: "A stale response that may still be used is a dictionary.",
            steps: Step.twice("/while", life: Step.briefLife + ", stale-while-revalidate=600", later: true)),
        ClientRule(
            name: "no-store", section: "RFC 9842 2.2.1, RFC 9111 5.2.2.5",
            text: "A response with no-store is not kept.",
            steps: Step.twice("/no-store", life: "no-store, max-age=600", then: .nothing)),
        ClientRule(
            name: "type", section: "RFC 9842 2.1.4",
            text: "A dictionary of another type than raw is not used.",
            steps: Step.twice("/type", #"match="/type", type=other"#, then: .nothing)),
        ClientRule(
            name: "regexp", section: "RFC 9842 2.1.1",
            text: "A match with a regular expression is invalid.",
            steps: [
                .offer("/regexp/1", #"match="/regexp/(\\d+)""#), .fetch("/regexp/2", names: .nothing),
            ]),
    ]

    /// Which of the dictionaries a request names.
    private static let choosing = [
        ClientRule(
            name: "pattern", section: "RFC 9842 2.1.1, 2.2.2",
            text: "A match with a wildcard is for the paths that fit, and for no others.",
            steps: [
                .offer("/app/1/main.js", #"match="/app/*/main.js""#),
                .fetch("/app/2/main.js", names: .body(of: "/app/1/main.js")),
                .fetch("/app/2/other.js", names: .nothing),
            ]),
        ClientRule(
            name: "relative-pattern", section: "RFC 9842 2.1.1",
            text: "A match is relative to the URL of its response.",
            steps: [
                .offer("/folder/first", #"match="item-*""#),
                .fetch("/folder/item-2", names: .body(of: "/folder/first")),
                .fetch("/item-2", names: .nothing),
            ]),
        ClientRule(
            name: "query", section: "RFC 9842 2.1.1, 2.2.2",
            text: "A match with a query is for this query only.",
            steps: [
                .offer("/list", #"match="/list?page=1""#),
                .fetch("/list?page=1", names: .body(of: "/list")),
                .fetch("/list?page=2", names: .nothing),
            ]),
        ClientRule(
            name: "match-dest", section: "RFC 9842 2.1.2",
            text: "A dictionary for scripts is not named by fetch(); clients without destinations may.",
            steps: Step.twice(
                "/scripts", #"match="/scripts", match-dest=("script")"#,
                then: .onlyWithoutDestinations("/scripts"))),
        ClientRule(
            name: "empty-destination", section: "RFC 9842 2.1.2",
            text: "The destination of fetch() and of apps is the empty one.",
            steps: Step.twice("/data", #"match="/data", match-dest=("document" "")"#)),
        ClientRule(
            name: "most-specific", section: "RFC 9842 2.2.3",
            text: "Of several that fit, the one with the longest match is named.",
            steps: [
                .offer("/most/1", #"match="/most/a/*""#), .offer("/most/2", #"match="/most/*""#),
                .fetch("/most/a/3", names: .body(of: "/most/1")),
                .fetch("/most/b/3", names: .body(of: "/most/2")),
            ]),
        ClientRule(
            name: "newest", section: "RFC 9842 2.2.3",
            text: "Of several with the same match, the newest is named.",
            steps: [
                .offer("/newest?1", #"match="/newest""#), .offer("/newest?2", #"match="/newest""#),
                .fetch("/newest?3", names: .body(of: "/newest?2")),
            ]),
    ]

    private static let apart = [
        ClientRule(
            name: "other-origin", section: "RFC 9842 2.2.2, 9.3.1",
            text: "A dictionary is named to the origin that it came from, and to no other.",
            steps: [
                .offer("/origin"), .fetch("/origin?2", names: .nothing).elsewhere,
                .fetch("/origin?3", names: .body(of: "/origin")),
            ]),
        ClientRule(
            name: "redirect", section: "RFC 9842 2.2.2, 9.3.1",
            text: "A redirect does not carry the name of a dictionary to another origin.",
            steps: Step.twice("/moved", then: .any, sends: .redirect(to: "/moved?3")),
            others: [.fetch("/moved?3", names: .nothing).elsewhere], needed: "/moved?3"),
        ClientRule(
            name: "foreign-pattern", section: "RFC 9842 2.1.1",
            text: "A match of another origin is invalid.",
            steps: Step.twice("/foreign", #"match="https://elsewhere.invalid/foreign""#, then: .nothing)),
        ClientRule(
            name: "users", section: "RFC 9842 10",
            text: "Users of an app share no dictionaries.",
            steps: [
                .offer("/own", life: "private, max-age=600"),
                .fetch("/own?2", names: .nothing).by(Step.users[1]),
                .fetch("/own?3", names: .body(of: "/own")),
            ]),
    ]

    /// Deltas that decode, and deltas that must not.
    private static let decoding =
        [
            damage("checksum", .checksum, "RFC 9842 5", "A delta whose checksum is wrong"),
            damage(
                "hash", .hash, "RFC 9842 4, 5", "A delta over another dictionary than the one that was named"),
            damage("cut-off", .cutOff, "RFC 9842 4, 5", "A delta without its end"),
            damage("broken-off", .brokenOff, "RFC 9112 8", "A delta whose connection breaks"),
            damage("bomb", .bomb, "advice", "A delta of a few KiB that decodes to 320 MiB", isAdvice: true),
            ClientRule(
                name: "unasked", section: "advice",
                text: "A delta to a request that named no dictionary is an error.",
                steps: [.fetch("/unasked", names: .nothing, sends: .unasked)], isAdvice: true),
            ClientRule(
                name: "window", section: "RFC 9842 5",
                text: "Windows of 8 MiB are accepted over a dictionary of any length.",
                steps: Step.twice("/window", sends: .window(log: 23))),
            ClientRule(
                name: "large-window", section: "RFC 9842 5",
                text: "Over a dictionary of 14 MiB, windows up to 1.25 times its length are accepted.",
                steps: [
                    .offer("/large").with { $0.bytes = Step.largeBytes },
                    .fetch("/large?2", names: .body(of: "/large"), sends: .window(log: 24)),
                ]),
        ]

    /// Rules of HTTP that dictionaries touch.
    private static let around = [
        ClientRule(
            name: "link", section: "RFC 9842 3",
            text: "The dictionary of a Link is fetched in advance, and named.",
            steps: [
                linking("/linking", to: "/linked"), .fetch("/link/2", names: .body(of: "/linked")),
            ], others: [.offer("/linked", #"match="/link/*""#)], needed: "/linked"),
        ClientRule(
            name: "link-missing", section: "RFC 9842 3",
            text: "The dictionary of a Link may be gone (404).",
            steps: [linking("/linking-gone", to: "/gone"), .fetch("/gone/2", names: .nothing)],
            others: [Step(path: "/gone", sends: .missing)], needed: "/gone"),
        ClientRule(
            name: "not-modified", section: "RFC 9111 4.3.4",
            text: "A 304 to the client's own condition gives the body that is held.",
            steps: [
                .offer("/validated", life: Step.briefLife, also: [("etag", #""1""#)]),
                .offer("/validated", life: Step.briefLife, also: [("etag", #""1""#)]).later
                    .with { $0.needsConfirmation = true },
            ]),
        ClientRule(
            name: "http2", section: "RFC 9113",
            text: "Deltas come over HTTP/2.",
            steps: [
                .offer("/http2").with { $0.needsHTTP2 = true },
                .fetch("/http2?2", names: .body(of: "/http2")).with { $0.needsHTTP2 = true },
            ]),
    ]

    private static func damage(
        _ name: String, _ damage: Step.Damage, _ section: String, _ what: String, isAdvice: Bool = false
    ) -> ClientRule {
        ClientRule(
            name: name, section: section,
            text: "\(what) is an error, or is asked for once more without a dictionary.",
            steps: Step.twice("/\(name)", sends: .damaged(damage)), isAdvice: isAdvice)
    }

    private static func linking(_ path: String, to target: String) -> Step {
        Step(path: path, fields: [("link", "<\(target)>; rel=\"compression-dictionary\"")])
    }
}
