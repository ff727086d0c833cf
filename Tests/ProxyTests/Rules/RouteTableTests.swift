internal import Dictionaries
internal import Storage
internal import Testing

@testable import Proxy

/// Which stored versions the present routes could still make.
@Suite struct RouteTableTests {
    /// A version of `/a/feed`, unless a case says otherwise.
    struct Case: Sendable {
        var url = "/a/feed"
        var match = "/a/feed"
        var matchDest: [String] = []
        var type = "application/json"
        var bytes = 1_500
        var isUpstreamMatch = false
    }

    private static let settings = """
        upstream: {urls: ["http://127.0.0.1:1"]}
        compression: {min_size: 1000, types: [application/json]}
        routes:
          - {match: "/a/*", dictionary: {max_body: 2000}}
          - {match: "/b/*", dictionary: {max_body: 2000}}
        """

    private let routes: RouteTable
    private let store: DictionaryStore

    init() throws {
        routes = RouteTable(try Configuration.parse(Array(Self.settings.utf8)))
        store = try DictionaryStore(
            configuration: StoreConfiguration(path: ":memory:", maxBytes: 1 << 30))
    }

    @Test(
        arguments: [
            (Case(), true), (Case(bytes: 1_000), true), (Case(bytes: 999), false), (Case(bytes: 2_000), true),
            (Case(bytes: 2_001), false), (Case(type: "text/html"), false),
            (Case(url: "/c/feed", match: "/c/feed"), false), (Case(match: "/a/other"), false),
            (Case(match: "/a/other", isUpstreamMatch: true), true), (Case(matchDest: ["script"]), false),
        ] as [(Case, Bool)])
    func `a version stays if its route would admit it, in the same chain`(one: Case, isMade: Bool) throws {
        let chain = ChainKey(authority: "api.test", match: one.match, matchDest: one.matchDest)
        let candidate = VersionCandidate(
            Body([UInt8](repeating: 1, count: one.bytes)),
            key: VersionKey(chain: chain, url: one.url, variant: ""), policy: AdmissionPolicy(),
            contentType: one.type, isUpstreamMatch: one.isUpstreamMatch)
        let version = try store.admission.admit(candidate, over: nil, now: 1_000)
        #expect(routes.makes(version) == isMade)
    }

    @Test func `a chain is of the route of its URL, or of its match if that is not known`() {
        let chain = ChainKey(authority: "api.test", match: "/a/feed")
        let known = ["/a/*", "/b/*"].map { routes.makes(chain, url: "/b/feed", route: $0) }
        #expect(known == [false, true])
        let unknown = ["/a/*", "/b/*"].map { routes.makes(chain, url: nil, route: $0) }
        #expect(unknown == [true, false])
    }
}
