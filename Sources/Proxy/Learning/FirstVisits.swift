/// The responses of a day that a dictionary could have made shorter: clients got them without a version of the path.
///
/// Those of a client's first page do not count, since a browser downloads a dictionary after the page that announces it. The first
/// clients of the day stand for all, so that the memory is bounded. The tenth of them that got the most is left out, since one
/// address can ask for anything as often as it likes.
struct FirstVisits: Sendable {
    static let clientsMax = 128
    /// The time from a client's first response to those that count.
    static let pageSeconds = 10
    private static let periodSeconds = 86_400

    private struct Account: Sendable {
        let begunAt: Int
        var responses = 0
        var bytes = 0
    }

    private var accounts: [UInt128: Account] = [:]
    private var begunAt: Int?
    /// The bytes of all clients, also of those that are left out.
    private(set) var bytes = 0

    /// The number of clients, also of those that are left out.
    var clients: Int { accounts.count }

    /// Records a response of so many bytes as sent.
    mutating func record(bytes: Int, of client: UInt128, at now: Int) {
        if let begunAt, now - begunAt >= Self.periodSeconds { self = FirstVisits() }
        begunAt = begunAt ?? now
        guard accounts[client] != nil || accounts.count < Self.clientsMax else { return }
        var account = accounts[client] ?? Account(begunAt: now)
        if now - account.begunAt >= Self.pageSeconds {
            account.responses += 1
            account.bytes += bytes
            self.bytes += bytes
        }
        accounts[client] = account
    }

    /// The sums of the clients that count.
    var totals: (clients: Int, responses: Int, bytes: Int) {
        let most = (accounts.count + 9) / 10
        let counted = accounts.values.sorted { $0.bytes < $1.bytes }.dropLast(most)
        return counted.reduce(into: (0, 0, 0)) { sums, account in
            sums.0 += 1
            sums.1 += account.responses
            sums.2 += account.bytes
        }
    }
}
