internal import Dictionaries
internal import Primitives
internal import Storage
internal import Testing

@testable import Proxy

/// Which dictionaries a request may use by which proof, and which chain its response belongs to.
@Suite struct EntitlementTests {
    private static let settings = """
        upstream: {urls: ["http://127.0.0.1:1"]}
        store: {key_file: /key}
        routes:
        - {match: /open, dictionary: {}}
        - {match: /off, dictionary: {personal: "off"}}
        - {match: /mine, dictionary: {scope: private, identity: authorization}}
        - {match: /plain, dictionary: "off"}
        """

    private let routes: RouteTable
    private let keys: StoreKeys
    private let user: IdentityTag
    private let digest = Digest(of: [1, 2, 3].span)

    init() throws {
        routes = RouteTable(try Configuration.parse(Array(Self.settings.utf8)))
        keys = try #require(StoreKeys(key: [UInt8](repeating: 7, count: 32)))
        user = try #require(keys.identityTag(authority: "api.test", items: [("authorization", [1])]))
    }

    private func entitlement(_ path: String, authority: String? = "api.test") -> Entitlement {
        let url = PathAndQuery(path: path, query: nil)
        return Entitlement(
            facts: RequestFacts(),
            resource: RequestedResource(
                authority: authority, url: url, route: routes.choose(url, authority: authority).route))
    }

    // MARK: The client's proof

    @Test func `a public route is for everybody, a private one for a known user of its own pages`() {
        var mine = entitlement("/mine")
        #expect(entitlement("/open").mayUseDictionaries && !mine.mayUseDictionaries)
        mine.identify(as: user)
        #expect(mine.mayUseDictionaries && mine.facts.hasWholeIdentity)
        mine.facts.secFetchSite = .other
        #expect(!mine.mayUseDictionaries)
        var open = entitlement("/open")
        open.facts.secFetchSite = .other
        #expect(open.mayUseDictionaries, "the response decides, not the request alone")
        open.facts.dictionarySwitch = .switchedOff
        #expect(!open.mayUseDictionaries)
        #expect(!entitlement("/open", authority: nil).mayUseDictionaries)
    }

    @Test func `no proof is needed on a public route alone`() {
        #expect(entitlement("/open").publicAuthority == "api.test")
        #expect(entitlement("/mine").publicAuthority == nil)
        #expect(entitlement("/open", authority: nil).publicAuthority == nil)
    }

    @Test func `an id may prove the unlisted chain, and of its own pages the personal one of the body`()
        throws
    {
        var open = entitlement("/open")
        let chains = open.chainsToProve(of: digest, keys)
        try #require(chains.count == 2)
        #expect(chains[0].scope == .unlisted && chains[1].scope.isSealed)
        let other = open.chainsToProve(of: Digest(of: [4].span), keys)
        #expect(other[0] == chains[0] && other[1] != chains[1])
        open.facts.secFetchSite = .other
        #expect(open.chainsToProve(of: digest, keys).map(\.scope) == [.unlisted])
        var off = entitlement("/off")
        #expect(off.chainsToProve(of: digest, keys).map(\.scope) == [.unlisted])
    }

    @Test func `on a private route an id proves the chain of the user alone`() {
        var mine = entitlement("/mine")
        #expect(mine.chainsToProve(of: digest, keys).isEmpty)
        mine.identify(as: user)
        #expect(mine.chainsToProve(of: digest, keys).map(\.scope) == [.private(user)])
    }

    // MARK: From audience to chain

    @Test func `each audience has a chain of its own`() throws {
        var open = entitlement("/open")
        func target(_ audience: Audience) -> AdmissionTarget? {
            open.target(for: audience, variant: "v", isOffered: true, keys)
        }
        let (everybody, unlisted) = (try #require(target(.public)), try #require(target(.unlisted)))
        #expect(everybody.key.chainKey.scope == .public && unlisted.key.chainKey.scope == .unlisted)
        #expect(everybody.key.variant == "v" && !everybody.isProvisional && everybody.isOffered)
        let (one, next) = (try #require(target(.personal)), try #require(target(.personal)))
        #expect(one.isProvisional && one.key.variant.isEmpty && one.key.chainKey.scope.isSealed)
        #expect(one.settled(digest, keys)?.key == next.settled(digest, keys)?.key)
        #expect(one.settled(digest, nil) == nil, "without keys nothing personal is kept")
    }

    @Test func `on a private route every response belongs to the user, and to nobody without one`() {
        var mine = entitlement("/mine")
        #expect(mine.target(for: .personal, variant: "", isOffered: true, keys) == nil)
        mine.identify(as: user)
        let target = mine.target(for: .personal, variant: "v", isOffered: true, keys)
        #expect(target?.key.chainKey.scope == .private(user) && target?.isProvisional == false)
    }

    @Test func `the upstream's own offer decides on the chain, and serves public bodies only`() {
        var open = entitlement("/open")
        let own = [#"match="/other""#]
        let target = open.target(for: .public, own: own, variant: "", isOffered: false, keys)
        #expect(target?.key.chainKey.match == "/other" && target?.isUpstreamMatch == true)
        #expect(target?.offer == nil && target?.isOffered == true, "the field is there already")
        for audience in [Audience.unlisted, .personal] {
            #expect(open.target(for: audience, own: own, variant: "", isOffered: false, keys) == nil)
        }
        #expect(open.target(for: .public, own: ["match"], variant: "", isOffered: true, keys) == nil)
    }

    @Test func `a target without an offer gives its client nothing`() {
        var open = entitlement("/open")
        let target = open.target(for: .public, variant: "", isOffered: false, keys)
        #expect(target?.offer == nil && target?.isOffered == false)
    }

    @Test func `a route without dictionaries has no chain`() {
        var plain = entitlement("/plain")
        #expect(plain.target(for: .public, variant: "", isOffered: true, keys) == nil)
        #expect(plain.chainsToProve(of: digest, keys).isEmpty)
    }
}
