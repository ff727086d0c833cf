/// Costs and savings of an announced dictionary, per client.
///
/// Learned announcements must save more than they cost. Samples of clients judge that, one about every ten minutes. Until
/// the first judgement an announcement lives on credit (`AnnouncementCredit`).
struct AnnouncementLedger: Sendable {
    private static let restSeconds = 3600
    private static let doublingsMax = 4
    /// The savings of one client count up to so many times its cost.
    ///
    /// To prove a dictionary it takes as many clients that save as others; to end one that is proven it takes seven times as
    /// many that never come back as those that do.
    private static let savingsOfUnproven = 2
    private static let savingsOfProven = ClientSample.savingsMax

    /// The sample that clients still join.
    private var enrolling = ClientSample(number: 0, begunAt: nil)
    /// The sample before it, whose last clients still have time to save.
    private var maturing: ClientSample?
    private var credit = AnnouncementCredit()
    private var rests = 0
    private var restsUntil = 0
    /// True from a judgement that the announcement pays until one that it does not.
    private(set) var isProven = false

    /// Returns true unless the announcement rests after a judgement.
    func pays(at now: Int) -> Bool { now >= restsUntil }

    func mayAnnounce(at now: Int) -> Bool { pays(at: now) && (isProven || credit.isLeft) }

    /// Records the bytes that a client was sent for a fetch after the page, which give credit.
    mutating func recordFetch(_ bytes: Int, of client: UInt128, at now: Int) {
        credit.earn(bytes, by: client, at: now)
    }

    /// Records a client's download of the dictionary.
    mutating func recordCost(_ bytes: Int, of client: UInt128, at now: Int) {
        judge(at: now)
        enrolling.enrol(client, cost: bytes, at: now)
        credit.spend(bytes, by: client, at: now)
    }

    /// Records a delta over the dictionary.
    mutating func recordSaving(_ bytes: Int, of client: UInt128) {
        let refund = enrolling.save(bytes, by: client) ?? maturing?.save(bytes, by: client)
        credit.refund(refund ?? 0)
    }

    private mutating func judge(at now: Int) {
        if maturing == nil, enrolling.isClosed(at: now) {
            maturing = enrolling
            enrolling = ClientSample(number: enrolling.number &+ 1, begunAt: now)
        }
        guard let sample = maturing, sample.isMature(at: now) else { return }
        maturing = nil
        isProven = sample.balance(savingsMax: isProven ? Self.savingsOfProven : Self.savingsOfUnproven) >= 0
        guard !isProven else {
            rests = 0
            return
        }
        restsUntil = now + Self.restSeconds << min(rests, Self.doublingsMax)
        rests += 1
        enrolling = ClientSample(number: enrolling.number &+ 1, begunAt: nil)
    }
}

/// A sample of the clients that download a dictionary, with what each has cost and saved.
///
/// All clients of ten minutes are equally likely to be in it, however many there are, in which order they come, and how
/// often each downloads: those with the lowest hashes are. So nobody can fill it, and nobody leaves it unjudged.
private struct ClientSample: Sendable {
    private struct Account {
        /// A seeded hash of the client and the sample.
        let rank: Int
        var cost: Int
        var saved = 0
    }

    private static let countMax = 32
    /// The least number of clients for a judgement.
    private static let countMin = 8
    /// The time in which clients join, and the time that each gets to save as much as the download cost.
    private static let seconds = 600

    let number: Int
    private var begunAt: Int?
    private var lastJoinedAt = 0
    private var accounts: [Account] = []

    init(number: Int, begunAt: Int?) {
        (self.number, self.begunAt) = (number, begunAt)
    }

    /// Returns true if no further clients join; a sample that is too small stays open.
    func isClosed(at now: Int) -> Bool {
        accounts.count >= Self.countMin && begunAt.map { now - $0 >= Self.seconds } == true
    }

    func isMature(at now: Int) -> Bool { now - lastJoinedAt >= Self.seconds }

    /// The savings of a client that are recorded at most, in multiples of its cost.
    static let savingsMax = 8

    /// Returns the bytes saved beyond the costs, those of each client up to so many times its cost.
    func balance(savingsMax: Int) -> Int {
        accounts.reduce(0) { $0 + min($1.saved, savingsMax * $1.cost) - $1.cost }
    }

    mutating func enrol(_ client: UInt128, cost: Int, at now: Int) {
        begunAt = begunAt ?? now
        let rank = rank(of: client)
        if let index = accounts.firstIndex(where: { $0.rank == rank }) {
            accounts[index].cost = max(accounts[index].cost, cost)
            return
        }
        if accounts.count < Self.countMax {
            accounts.append(Account(rank: rank, cost: cost))
        } else if let last = accounts.indices.max(by: { accounts[$0].rank < accounts[$1].rank }),
            rank < accounts[last].rank
        {
            accounts[last] = Account(rank: rank, cost: cost)
        } else {
            return
        }
        lastJoinedAt = now
    }

    /// Records what a client has saved; returns the part that pays its own cost, or nil if it is not in the sample.
    mutating func save(_ bytes: Int, by client: UInt128) -> Int? {
        let rank = rank(of: client)
        guard let index = accounts.firstIndex(where: { $0.rank == rank }) else { return nil }
        let (former, cost) = (accounts[index].saved, accounts[index].cost)
        accounts[index].saved = min(former + max(0, bytes), Self.savingsMax * cost)
        return min(accounts[index].saved, cost) - min(former, cost)
    }

    // Swift seeds its hashes per process, so that clients cannot choose addresses by rank.
    private func rank(of client: UInt128) -> Int {
        var hasher = Hasher()
        hasher.combine(client)
        hasher.combine(number)
        return hasher.finalize()
    }
}

/// The bytes that downloads of a learned dictionary may still cost.
///
/// Fetches after the page pay for it: twice what each client was sent. Downloads use it up, the first four of each client: many
/// visitors may share one address, and one address must not end what is useful to others. So the downloads that somebody brings
/// about with made-up fetches cost others at most twice as much as the fetches cost it, as long as no more than four visitors
/// share an address. Honest visitors, who fetch the path, keep an announcement alive.
private struct AnnouncementCredit: Sendable {
    private static let periodSeconds = 6 * 3600
    private static let factor = 2
    private static let downloadsMax = 4
    /// More is not kept, so that no sum overflows.
    private static let bytesMax = 1 << 40

    private var bytes = 0
    private var begunAt = 0
    private var payers = RecentClients()
    private var downloaders = RecentClients()

    var isLeft: Bool { bytes > 0 }

    mutating func earn(_ paid: Int, by client: UInt128, at now: Int) {
        renew(at: now)
        guard payers.count(client, atMost: 1) else { return }
        bytes = min(bytes + Self.factor * min(max(0, paid), Self.bytesMax), Self.bytesMax)
    }

    mutating func spend(_ cost: Int, by client: UInt128, at now: Int) {
        renew(at: now)
        guard downloaders.count(client, atMost: Self.downloadsMax) else { return }
        bytes = max(bytes - min(max(0, cost), Self.bytesMax), -Self.bytesMax)
    }

    /// Gives back what a download has cost, as far as the same client has saved it.
    mutating func refund(_ saved: Int) { bytes = min(bytes + saved, Self.bytesMax) }

    /// Lets clients count again in the next period.
    private mutating func renew(at now: Int) {
        guard now - begunAt >= Self.periodSeconds else { return }
        begunAt = now
        (payers, downloaders) = (RecentClients(), RecentClients())
    }
}
