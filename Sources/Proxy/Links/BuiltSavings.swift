/// The savings of a built dictionary, counted in the first responses that clients get of its route.
///
/// They are held out by nature: most are younger than the dictionary. Each client counts a few times only, so that none decides
/// what others are announced.
struct BuiltSavings: Sendable {
    /// The part of the first ratio below which a dictionary has become worse.
    private static let ratioKept = 0.9
    /// The responses of one ratio, and the least number without the dictionary that it is compared with.
    static let windowCount = 256
    static let plainCountMin = 32
    /// The responses of one client that count, in each window.
    static let clientCountMax = 16

    private struct Share: Sendable {
        private(set) var count = 0
        private var body = 0
        private var sent = 0

        mutating func record(body: Int, sent: Int) {
            count += 1
            self.body += body
            self.sent += sent
        }

        /// Lets the older half count less and less.
        mutating func fade() { (count, body, sent) = (count / 2, body / 2, sent / 2) }

        var perMille: Int { sent * 1000 / max(1, body) }
        var value: Double { Double(sent) / Double(max(1, body)) }
    }

    private var plain = Share()
    private var plainClients = RecentClients()
    /// Over the newest dictionary, which its row names.
    private var over = Share()
    private var overClients = RecentClients()
    private var row: Int64 = .min
    /// The bytes without the dictionary, divided by those over it: in its first responses, and of late.
    private var first: Double?
    private var last: Double?

    /// Records a response without the dictionary.
    mutating func recordPlain(body: Int, sent: Int, client: UInt128) {
        guard plainClients.count(client, atMost: Self.clientCountMax) else { return }
        plain.record(body: body, sent: sent)
        guard plain.count >= 2 * Self.windowCount else { return }
        plain.fade()
        plainClients = RecentClients()
    }

    /// Records a response over the dictionary of a row; those over former ones do not count.
    mutating func recordOver(_ row: Int64, body: Int, sent: Int, client: UInt128) {
        guard row >= self.row else { return }
        if row > self.row {
            (self.row, first, last) = (row, nil, nil)
            beginWindow()
        }
        guard overClients.count(client, atMost: Self.clientCountMax) else { return }
        over.record(body: body, sent: sent)
        guard over.count >= Self.windowCount, plain.count >= Self.plainCountMin else { return }
        last = plain.value / max(over.value, 0.001)
        first = first ?? last
        beginWindow()
    }

    private mutating func beginWindow() { (over, overClients) = (Share(), RecentClients()) }

    /// The bytes of responses without a dictionary per 1,000 bytes of body; nil until some were sent.
    var plainPerMille: Int? { plain.count >= Self.plainCountMin ? plain.perMille : nil }

    func ratio(of row: Int64) -> Double? { row == self.row ? last : nil }

    /// Returns true if a dictionary saves a tenth less than it did.
    func hasFallen(_ row: Int64) -> Bool {
        guard row == self.row, let first, let last else { return false }
        return last < Self.ratioKept * first
    }

    /// Compares with what it saves now from now on.
    mutating func acceptFall() { first = last }
}
