internal import Dictionaries
internal import DictionaryFiles
internal import Foundation
internal import HTTP

/// The dictionaries of `fetch` in a folder, apart for each set of credentials; blocking.
///
/// It is the store of the client of apps. A folder that cannot be used holds nothing, and keeps nothing.
struct FetchStore: Sendable {
    /// The size of all dictionaries, of all sets of credentials together.
    private static let limit = ClientStore.Limit.mebibytes(256)

    let directory: String
    private let opened: Result<ClientStore, any Error>
    /// The credentials that a request sends; nil for none.
    private let user: String?
    /// Read before a request is sent: what is removed meanwhile, by another process, stays away.
    private var generation: Int?

    init(directory: String, user: String? = nil) {
        self.directory = directory
        self.user = user
        opened = Result {
            try ClientStore.persistent(at: URL(fileURLWithPath: directory), limit: Self.limit)
        }
        generation = try? use { await $0.begin() }.get()
    }

    /// Returns the dictionary to offer for a URL, and the one that came from the URL itself, even if it has expired.
    func held(for url: FetchURL, at milliseconds: Int64) -> (
        best: VerifiedDictionary?, own: VerifiedDictionary?
    ) {
        (try? use { await $0.held(for: url.target, now: milliseconds) }.get()) ?? (nil, nil)
    }

    /// Returns true if a dictionary that came from this URL may be offered.
    func hasFresh(_ url: FetchURL, at seconds: Int64) -> Bool {
        (try? use { await $0.hasUsable(url.target, at: seconds) }.get()) == true
    }

    /// Keeps a dictionary in place of an older one with the same match; returns false if it is too large, or came stale, or all
    /// were removed.
    func keep(_ record: ClientRecord, _ body: Body) throws -> Bool {
        try use { [generation] in try await $0.keep(record, body, generation: generation) }.get()
    }

    /// Removes what these credentials have of an origin.
    func removeAll(of origin: String) { _ = use { await $0.removeAll(of: origin) } }

    func remove(_ record: CachedDictionary) { _ = use { await $0.remove(record) } }

    /// Waits for the actor of the store; no task may call this.
    private func use<Value: Sendable>(
        _ work: @escaping @Sendable (UserDictionaries) async throws -> Value
    ) -> Result<Value, any Error> {
        opened.flatMap { store in
            let result = AwaitedValue<Result<Value, any Error>>()
            let dictionaries = store.dictionaries(of: user)
            Task.detached {
                do { result.give(.success(try await work(dictionaries))) } catch {
                    result.give(.failure(error))
                }
            }
            return result.take() ?? .failure(CancellationError())
        }
    }
}
