import Testing

@testable import Dictionaries
@testable import Storage

/// A store with private routes, and its helpers for tests.
struct PrivateStore {
    let keys: StoreKeys
    let store: DictionaryStore

    /// Makes a test key from a number.
    static func keys(_ number: UInt8 = 1) throws -> StoreKeys {
        try #require(StoreKeys(key: [UInt8](repeating: number, count: StoreKeys.byteCount)))
    }

    init(
        _ path: String, key: UInt8 = 1, maxBytes: Int = 1 << 30, maxChains: Int = 1000,
        privateBytesMax: Int? = nil, versionsInUseMax: Int? = nil,
        log: @escaping @Sendable (OperatorEvent) -> Void = { _ in }
    ) throws {
        keys = try Self.keys(key)
        var configuration = StoreConfiguration(path: path, maxBytes: maxBytes, log: log)
        configuration.maxChains = maxChains
        configuration.memoryBytes = 64 << 20
        configuration.privateRows = .used(keys)
        if let privateBytesMax { configuration.privateBytesMax = privateBytesMax }
        if let versionsInUseMax { configuration.versionsInUseMax = versionsInUseMax }
        configuration.retrySeconds = 3600
        store = try DictionaryStore(configuration: configuration)
    }

    /// Returns the scope of a user.
    func scope(_ user: String, authority: String = "api.example") throws -> ChainKey.Scope {
        let value = Array("Bearer \(user)-token".utf8)
        return .private(
            try #require(keys.identityTag(authority: authority, items: [("authorization", value)])))
    }

    /// Returns the chain of a user.
    func chain(_ user: String, match: String = "/feed", authority: String = "api.example") throws -> ChainKey
    {
        ChainKey(authority: authority, scope: try scope(user, authority: authority), match: match)
    }

    /// Returns the chain of a personal body at `/feed`.
    func personal(_ body: Body, match: String = "/feed") throws -> ChainKey {
        try #require(
            keys.personalChain(of: body.digest, like: ChainKey(authority: "api.example", match: match)))
    }

    /// Returns the version of a personal body, as a client that was given it finds it.
    func held(_ body: Body) throws -> Version? {
        store.reader().version(chain: try personal(body), digest: body.digest)
    }

    /// Admits a personal body for a client of a network, which comes back for it if `comesBack` says so.
    func give(_ body: Body, network: Int, comesBack: Bool = false, now: Int) throws {
        let version = try store.admission.admit(
            VersionCandidate(
                body, key: VersionKey(chain: try personal(body), url: "/feed", variant: ""),
                policy: AdmissionPolicy(network: UInt16(network))), now: now)
        if comesBack { store.demand.advertised(version, now: now + 10) }
    }

    /// Returns true if a user's request for `/feed` finds the digest.
    func finds(_ body: Body, _ user: String, authority: String = "api.example") throws -> Bool {
        try version(body, user, authority: authority) != nil
    }

    func version(_ body: Body, _ user: String, authority: String = "api.example") throws -> Version? {
        store.reader().find(
            digest: body.digest, authority: authority, scope: try scope(user, authority: authority),
            url: PathAndQuery(path: "/feed"))
    }
}
