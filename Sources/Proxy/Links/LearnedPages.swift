internal import Storage

/// Learns which public chains clients fetch after a page, for `announce: auto`.
///
/// Clients count by network, so that one client can neither cause an announcement nor displace one. A full page replaces
/// a candidate by the algorithm of Misra and Gries. `FairTable` bounds the memory.
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
        /// A seeded hash of the client that fetched it first.
        let introducer: Int
        var clients = ClientSketch()
        /// True if at least half of the page's clients fetched it at some time.
        var wasLearned = false
        /// Its number among the chains that stay for the period; nil for others.
        var settledAs: Int?

        /// True if too few clients fetch it for an announcement.
        var isCandidate: Bool { clients.count < LearnedPages.clientsMin }
    }

    private struct Page {
        var begunAt: Int
        var viewers = ClientSketch()
        var fetched: [Fetched] = []
        /// The clients that have fetched other chains since one was replaced.
        var others = ClientSketch()
        var settledCount = 0
        /// The chains learned in the previous period.
        var former: [ChainKey] = []
    }

    /// The least number of clients that makes a chain worth announcing.
    private static let clientsMin = 3
    /// The number of chains counted per page.
    private static let chainsMax = 8
    /// The number of candidates that one client may keep on a full page.
    private static let introducedMax = 2
    static let announcedMax = 4
    /// The clients with which a learned chain settles: it stays, and before later ones, however many clients come then.
    private static let settledMin = 8
    private static let periodSeconds = 6 * 3600
    /// Longer patterns are not kept.
    private static let matchBytesMax = 512
    private static let bucketCount = 256
    private static let slotCount = 8

    private var pages = FairTable<Key, Page>(buckets: bucketCount, slots: slotCount)

    /// Records that a client fetched a response of a chain after a page.
    ///
    /// `isProven` says which chains have been judged to pay: those that the page has learned stay, however many clients
    /// fetch others.
    mutating func recordFetch(
        of chain: ChainKey, after page: Key, by client: UInt128, now: Int,
        isProven: (ChainKey) -> Bool = { _ in false }
    ) {
        guard chain.match.utf8.count <= Self.matchBytesMax else { return }
        pages.change(page, openedBy: client, fresh: Page(begunAt: now)) { page in
            Self.renew(&page, now: now, isProven)
            defer { Self.noteLearned(&page, isProven) }
            page.viewers.insert(client)
            if let index = page.fetched.firstIndex(where: { $0.chain == chain }) {
                page.fetched[index].clients.insert(client)
                return
            }
            var fetched = Fetched(chain: chain, introducer: client.hashValue)
            fetched.clients.insert(client)
            if page.fetched.count < Self.chainsMax { return page.fetched.append(fetched) }
            if let place = Self.replaceable(in: &page, by: client, isProven) { page.fetched[place] = fetched }
        }
    }

    /// Returns the place that a client's new chain takes on a full page; nil for none.
    ///
    /// A client that has its share of candidates gives up one of its own, and one with more gives up one to everybody.
    /// So a few clients with made-up chains leave places to others. Any other chain is replaced only after as many
    /// clients as fetch it have fetched chains that are not on the page.
    private static func replaceable(
        in page: inout Page, by client: UInt128, _ isProven: (ChainKey) -> Bool
    ) -> Int? {
        let own = candidates(of: client.hashValue, in: page)
        if own.count >= introducedMax { return own.first }
        let greediest = Set(page.fetched.filter(\.isCandidate).map(\.introducer))
            .map { candidates(of: $0, in: page) }.max { $0.count < $1.count }
        if let greediest, greediest.count > introducedMax { return greediest.first }
        page.others.insert(client)
        let places = page.fetched.indices.filter {
            !(page.fetched[$0].wasLearned && isProven(page.fetched[$0].chain))
                && page.fetched[$0].settledAs == nil
        }
        guard let weakest = places.min(by: { isWeaker(page.fetched[$0], page.fetched[$1]) }),
            page.others.count >= page.fetched[weakest].clients.count
        else { return nil }
        page.others = ClientSketch()
        return weakest
    }

    /// Returns the places of the candidates that a client has introduced, the weakest first.
    private static func candidates(of introducer: Int, in page: Page) -> [Int] {
        page.fetched.indices
            .filter { page.fetched[$0].introducer == introducer && page.fetched[$0].isCandidate }
            .sorted { isWeaker(page.fetched[$0], page.fetched[$1]) }
    }

    private static func isWeaker(_ one: Fetched, _ other: Fetched) -> Bool {
        one.clients.count < other.clients.count
    }

    mutating func recordView(
        of page: Key, by client: UInt128, now: Int, isProven: (ChainKey) -> Bool = { _ in false }
    ) {
        _ = pages.changeIfPresent(page) { page in
            Self.renew(&page, now: now, isProven)
            page.viewers.insert(client)
        }
    }

    /// Returns the chains of a page: those that at least half of its clients fetch, and those learned in the previous period.
    ///
    /// Those that pay come first, then those that have settled in their order, and then the most fetched.
    func chains(of page: Key, isProven: (ChainKey) -> Bool = { _ in false }) -> [ChainKey] {
        guard let page = pages[page] else { return [] }
        let learned = Self.learned(page, isProven)
        let all = learned + page.former.filter { !learned.contains($0) }
        return all.filter(isProven) + all.filter { !isProven($0) }
    }

    private static func learned(_ page: Page, _ isProven: (ChainKey) -> Bool) -> [ChainKey] {
        let stay = page.fetched.filter { $0.settledAs != nil || $0.wasLearned && isProven($0.chain) }
            .sorted { $0.settledAs ?? .max < $1.settledAs ?? .max }.map(\.chain)
        let others = page.fetched.filter { isLearned($0, of: page) && !stay.contains($0.chain) }
            .sorted { $0.clients.count > $1.clients.count }.map(\.chain)
        return stay + others
    }

    private static func isLearned(_ fetched: Fetched, of page: Page) -> Bool {
        !fetched.isCandidate && 2 * fetched.clients.count >= page.viewers.count
    }

    private static func noteLearned(_ page: inout Page, _ isProven: (ChainKey) -> Bool) {
        for place in page.fetched.indices where isLearned(page.fetched[place], of: page) {
            page.fetched[place].wasLearned = true
            // The numbers of those that come later cannot displace it; its credit and its clients' savings end it. Those that
            // come first leave half of the announcements to others, as long as nothing is proven.
            guard page.fetched[place].settledAs == nil, page.settledCount < announcedMax,
                page.fetched[place].clients.count >= settledMin,
                isProven(page.fetched[place].chain)
                    || page.fetched.count(where: { $0.settledAs != nil && !isProven($0.chain) })
                        < announcedMax / 2
            else { continue }
            page.fetched[place].settledAs = page.settledCount
            page.settledCount += 1
        }
    }

    /// Starts a new period when the current one is over, so that changed pages are learned again.
    private static func renew(_ page: inout Page, now: Int, _ isProven: (ChainKey) -> Bool) {
        guard now - page.begunAt >= periodSeconds else { return }
        let isRecent = now - page.begunAt < 2 * periodSeconds
        page = Page(begunAt: now, former: isRecent ? learned(page, isProven) : [])
    }
}
