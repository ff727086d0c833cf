internal import Dictionaries

/// Learns which public chains clients fetch after a page, for `announce: auto`.
///
/// Clients count by address, so that one client can neither cause an announcement nor displace one. `FairTable` bounds
/// the memory.
struct LearnedPages: Sendable {
    /// The key of an entry: the pages that a document's chain covers.
    struct Key: Hashable, Sendable {
        private let hash: Int

        init(authority: String, match: String) {
            var hasher = Hasher()
            hasher.combine(authority)
            hasher.combine(match)
            hash = hasher.finalize()
        }
    }

    private struct Fetched {
        let chain: ChainKey
        var clients = ClientSketch()
    }

    private struct Page {
        var begunAt: Int
        var viewers = ClientSketch()
        var fetched: [Fetched] = []
        /// The chains learned in the previous period.
        var former: [ChainKey] = []
    }

    /// The least number of clients that makes a chain worth announcing.
    private static let clientsMin = 3
    /// The number of chains counted per page.
    private static let chainsMax = 8
    static let announcedMax = 4
    private static let periodSeconds = 6 * 3600
    /// Longer patterns are not kept.
    private static let matchBytesMax = 512
    private static let bucketCount = 256
    private static let slotCount = 8

    private var pages = FairTable<Key, Page>(buckets: bucketCount, slots: slotCount)

    init() {}

    /// Records that a client fetched a response of a chain after a page.
    mutating func recordFetch(of chain: ChainKey, after page: Key, by client: UInt128, now: Int) {
        guard chain.match.utf8.count <= Self.matchBytesMax else { return }
        pages.change(page, openedBy: client, fresh: Page(begunAt: now)) { page in
            Self.renew(&page, now: now)
            page.viewers.insert(client)
            if let index = page.fetched.firstIndex(where: { $0.chain == chain }) {
                page.fetched[index].clients.insert(client)
                return
            }
            var fetched = Fetched(chain: chain)
            fetched.clients.insert(client)
            if page.fetched.count < Self.chainsMax { return page.fetched.append(fetched) }
            // Replace only a chain that a single client has fetched.
            if let index = page.fetched.firstIndex(where: { $0.clients.count < 2 }) {
                page.fetched[index] = fetched
            }
        }
    }

    mutating func recordView(of page: Key, by client: UInt128, now: Int) {
        _ = pages.changeIfPresent(page) { page in
            Self.renew(&page, now: now)
            page.viewers.insert(client)
        }
    }

    /// Returns the chains that at least half of the clients of a page fetch, the most fetched first.
    func chains(of page: Key) -> [ChainKey] {
        guard let page = pages[page] else { return [] }
        let learned = Self.learned(page)
        return learned + page.former.filter { !learned.contains($0) }
    }

    private static func learned(_ page: Page) -> [ChainKey] {
        page.fetched.filter { $0.clients.count >= clientsMin && 2 * $0.clients.count >= page.viewers.count }
            .sorted { $0.clients.count > $1.clients.count }.map(\.chain)
    }

    /// Starts a new period when the current one is over, so that changed pages are learned again.
    private static func renew(_ page: inout Page, now: Int) {
        guard now - page.begunAt >= periodSeconds else { return }
        let isRecent = now - page.begunAt < 2 * periodSeconds
        page = Page(begunAt: now, former: isRecent ? learned(page) : [])
    }
}
