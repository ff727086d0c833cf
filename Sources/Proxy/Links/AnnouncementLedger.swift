/// Costs and savings of an announced dictionary, per client.
///
/// Learned announcements must save more than they cost. Each client's account is bounded, so that no client can
/// decide alone.
struct AnnouncementLedger: Sendable {
    private struct Account {
        let client: UInt128
        let openedAt: Int
        var cost: Int
        var saved = 0
    }

    /// The number of most recent clients whose accounts are kept.
    private static let accountsMax = 32
    /// The least number of clients for a judgement.
    private static let judgesMin = 8
    /// The time a client gets to save as much as the download cost.
    private static let secondsMin = 600
    private static let restSeconds = 3600
    private static let doublingsMax = 4

    private var accounts: [Account] = []
    private var next = 0
    private var rests = 0
    private var restsUntil = 0

    init() {}

    /// Returns true if the dictionary may be announced.
    func pays(at now: Int) -> Bool { now >= restsUntil }

    mutating func recordCost(_ bytes: Int, of client: UInt128, at now: Int) {
        if let index = accounts.firstIndex(where: { $0.client == client }) {
            accounts[index].cost = max(accounts[index].cost, bytes)
        } else {
            insert(Account(client: client, openedAt: now, cost: bytes))
        }
        judge(at: now)
    }

    /// Records a delta over the dictionary.
    mutating func recordSaving(_ bytes: Int, of client: UInt128) {
        guard let index = accounts.firstIndex(where: { $0.client == client }) else { return }
        // At most four times the cost, so that one client cannot outvote four others.
        accounts[index].saved = min(accounts[index].saved + max(0, bytes), 4 * accounts[index].cost)
    }

    private mutating func insert(_ account: Account) {
        guard accounts.count >= Self.accountsMax else { return accounts.append(account) }
        accounts[next] = account
        next = (next + 1) % Self.accountsMax
    }

    private mutating func judge(at now: Int) {
        let judges = accounts.filter { now - $0.openedAt >= Self.secondsMin || $0.saved > $0.cost }
        guard judges.count >= Self.judgesMin else { return }
        let balance = judges.reduce(0) { $0 + $1.saved - $1.cost }
        guard balance < 0 else {
            rests = 0
            return
        }
        restsUntil = now + Self.restSeconds << min(rests, Self.doublingsMax)
        rests += 1
        (accounts, next) = ([], 0)
    }
}
