internal import Dictionaries
// An app names ClientStore, and need not know that the store is a module of its own.
@_exported public import DictionaryFiles
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A client that keeps responses as dictionaries, so that servers send later ones as deltas (RFC 9842).
///
/// It adds to each GET, QUERY and POST what it holds, decodes what comes, and keeps what the server offers. All else of a request is the
/// transport's. Dictionaries are used over https, and over http on the device itself.
public struct DictionaryClient: Sendable {
    /// The limits of a client, and its log.
    public struct Options: Sendable {
        /// The largest decoded body; a longer one is an error.
        public var bodyBytesMax = 64 << 20
        /// The largest body that is kept as a dictionary.
        public var dictionaryBytesMax = 8 << 20
        /// True if the body of a request is sent as a delta over what was fetched from the same URL, where the server has announced
        /// that it accepts this.
        ///
        /// If the server then refuses it (415), the request is sent once more with its plain body.
        public var codesUploads = true
        /// Decides whether a dictionary that a Link of a response names is fetched, once the app has been idle for half a second.
        ///
        /// It is fetched without the app's fields and cookies. On Apple's platforms an expensive or constrained network is not
        /// used for it in any case.
        public var mayFetchLinked: @Sendable (URL) async -> Bool = { _ in true }
        /// Receives what the app may log; it must return at once.
        public var onEvent: @Sendable (DictionaryEvent) -> Void = { _ in }

        /// Makes options with the default limits and without a log.
        public init() {}
    }

    private let store: ClientStore
    private let user: String?
    private let options: Options

    /// Makes a client for what the app fetches for no user.
    public init(store: ClientStore, options: Options = Options()) {
        self.init(store, user: nil, options)
    }

    private init(_ store: ClientStore, user: String?, _ options: Options) {
        self.store = store
        self.user = user
        self.options = options
    }

    /// Returns a client with the dictionaries of one user of the app, which no other user's requests name.
    public func forUser(_ id: String) -> DictionaryClient { DictionaryClient(store, user: id, options) }

    /// Removes the dictionaries of this client's user, as at logout; requests on their way keep nothing any more.
    public func removeAll() async { await store.dictionaries(of: user).removeAll() }

    /// Fetches the dictionaries that Links have named for this client's user, without waiting until the app is idle.
    public func fetchLinked() async { await store.dictionaries(of: user).linked.fetchAll() }

    /// Keeps a dictionary that the app ships, such as one that `dictum train` wrote, so that first responses are small, too.
    ///
    /// It is for requests without an operation. It stays as long as other dictionaries do not need its place, and dictionaries of
    /// longer patterns win. Call this at each start, and for each user after a log-in; nothing happens while it is held.
    ///
    /// - Parameters:
    ///   - file: The dictionary.
    ///   - match: The `match` with which the server serves it, such as `/items/*`.
    ///   - server: Any URL of the server.
    public func preload(_ file: URL, match: String, from server: URL) async throws {
        guard let root = URL(string: "/", relativeTo: server),
            let target = ClientRequest.target(of: root.absoluteURL)
        else { throw DictionaryClientError.notHTTP }
        let body = Body([UInt8](try Data(contentsOf: file)))
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        let offer = UseAsDictionary(match: match, ttl: Self.preloadedSeconds)
        let dictionary: CachedDictionary
        do throws(UnkeptCause) {
            dictionary = try CachedDictionary(
                status: 200, fields: { $0 == "use-as-dictionary" ? offer.map { [$0.serialized] } ?? [] : [] },
                of: target,
                digest: body.digest, bytes: body.count, confirming: nil, receivedAt: now / 1000, storedAt: now
            )
        } catch {
            throw DictionaryClientError.notPreloaded(error.rawValue)
        }
        let dictionaries = store.dictionaries(of: user)
        guard await !dictionaries.has(dictionary, at: now / 1000) else { return }
        let isKept =
            body.count <= options.dictionaryBytesMax
            ? try await dictionaries.keep(
                ClientRecord(dictionary: dictionary, fields: []), body, generation: dictionaries.begin())
            : false
        guard isKept else { throw DictionaryClientError.notPreloaded("too large") }
    }

    /// A hundred years.
    private static let preloadedSeconds = 36_525 * 86_400

    /// Sends a request and returns the decoded body with the response.
    ///
    /// If the body cannot be decoded, its dictionary is dropped, and the request is sent once more without one; a POST is not,
    /// because the server has acted upon it. Any status is a response, such as 502; without one this throws.
    ///
    /// - Parameters:
    ///   - request: The request as the app would send it, without fields of dictionaries.
    ///   - operation: What the request asks, where one URL has many operations, such as the name of a GraphQL query.
    ///     The client keeps one dictionary for each.
    ///   - transport: The sender, such as a session.
    public func data(
        for request: URLRequest, operation: String? = nil, using transport: some Transport
    ) async throws -> (Data, HTTPURLResponse) {
        let (body, response) = try await exchange(transport, operation).collect(request)
        return (body, try response.urlResponse(bodyBytes: body.count))
    }

    /// Gets a URL as `data(for:using:)` does.
    public func data(from url: URL, using transport: some Transport) async throws -> (Data, HTTPURLResponse) {
        try await data(for: URLRequest(url: url), using: transport)
    }

    /// Sends a request and returns the response with its decoded body piece by piece, as the app draws it.
    ///
    /// A body that cannot be decoded is asked for again only before its first piece; afterwards the sequence throws.
    public func stream(
        for request: URLRequest, operation: String? = nil, using transport: some Transport
    ) async throws -> (DecodedPieces, HTTPURLResponse) {
        let response = try await exchange(transport, operation).open(request)
        return (DecodedPieces(response), try response.urlResponse(bodyBytes: nil))
    }

    private func exchange(_ transport: some Transport, _ operation: String?) -> ClientExchange {
        ClientExchange(
            transport: transport, dictionaries: store.dictionaries(of: user), options: options,
            operation: operation)
    }
}
