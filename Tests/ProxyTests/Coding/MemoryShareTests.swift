internal import Primitives
internal import Testing

@testable import Proxy

/// What one connection may take of a budget.
struct MemoryShareTests {
    private static let all = 1 << 20
    private let budget = MemoryBudget(bytes: Self.all)

    private func share(_ client: ClientUse?, _ connection: FairHolding = FairHolding()) -> MemoryShare {
        MemoryShare(of: budget, connection: connection, client: client)
    }

    /// Takes as much as there is by steps, and returns how much that was.
    private func fill(_ share: MemoryShare, step: Int = 1024) -> Int {
        var count = 0
        while share.reserve(step) { count += step }
        return count
    }

    @Test func `a client gets a ninth of all but the reserve, and one connection about half of that`() {
        let client = ClientUse()
        let (one, all) = (fill(share(client), step: 64), Self.all * 7 / 8)
        #expect((all / 17 - 128...all / 17 + 128).contains(one))
        let more = (0..<5).reduce(0) { sum, _ in sum + fill(share(client), step: 64) }
        #expect((all / 9 - 128...all / 9 + 128).contains(one + more))
    }

    @Test(arguments: [8, 100])
    func `whatever others hold, a client without a loan finds memory`(clients: Int) {
        let holders = (0..<clients).map { _ in share(ClientUse()) }
        for holder in holders { _ = fill(holder) }
        let client = ClientUse()
        let fresh = share(client)
        #expect(fresh.reserve(Self.all / 256))
        fresh.release(Self.all / 256)
        #expect(!share(client).reserve(Self.all / 8 + 1))
        #expect(budget.lend(Self.all / 16) { true } == true, "work that ends by itself finds it, too")
    }

    @Test func `the reserve is for clients that have nothing, and for small bodies`() {
        let holders = (0..<2000).map { _ in share(ClientUse()) }
        for holder in holders { _ = fill(holder, step: 64) }
        let client = ClientUse()
        #expect(!share(client).reserve(Self.all / 256 + 1))
        #expect(share(client).reserve(Self.all / 256))
        #expect(!share(client).reserve(Self.all / 256), "it has something now")
    }

    @Test func `what is given back is given back to budget, connection and client`() {
        let (client, connection) = (ClientUse(), FairHolding())
        do {
            var loan = MemoryLoan(1000, from: share(client, connection))
            #expect(client.memory.amount == 1000)
            #expect(loan?.resize(to: 3000) == true)
            #expect(connection.amount == 3000)
            #expect(loan?.resize(to: Self.all) == false)
            #expect(budget.takenBytes == 3000)
            #expect(loan?.resize(to: 10) == true)
            #expect(client.memory.amount == 10)
        }
        #expect((budget.takenBytes, connection.amount, client.memory.amount) == (0, 0, 0))
    }

    @Test func `a refused loan takes nothing`() {
        let (client, connection) = (ClientUse(), FairHolding())
        for bytes in [Self.all, .max] {
            let isRefused = MemoryLoan(bytes, from: share(client, connection)) == nil
            #expect(isRefused)
        }
        #expect((budget.takenBytes, connection.amount, client.memory.amount) == (0, 0, 0))
    }

    @Test func `clients of one connection share its part`() {
        let connection = FairHolding()
        let first = fill(share(ClientUse(), connection))
        #expect(fill(share(ClientUse(), connection)) == 0)
        #expect(first < Self.all / 16)
    }
}
