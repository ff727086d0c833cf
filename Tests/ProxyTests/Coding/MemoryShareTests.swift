internal import Primitives
internal import Testing

@testable import Proxy

/// What one connection may take of a budget.
struct MemoryShareTests {
    private static let all = 1 << 20
    private let budget = MemoryBudget(bytes: Self.all)

    private func share(_ client: ClientUse, _ connection: ClientUse = ClientUse()) -> MemoryShare {
        MemoryShare(of: budget, connection: connection, client: client)
    }

    /// Takes as much as there is by steps, and returns how much that was.
    private func fill(_ share: MemoryShare, step: Int = 64) -> Int {
        var count = 0
        while share.reserve(step) { count += step }
        return count
    }

    @Test func `a client gets half of all but the reserve, and one connection a third`() {
        let client = ClientUse()
        let (one, all) = (fill(share(client)), Self.all * 7 / 8)
        #expect((all / 3 - 128...all / 3 + 128).contains(one))
        let more = (0..<5).reduce(0) { sum, _ in sum + fill(share(client)) }
        #expect((all / 2 - 128...all / 2 + 128).contains(one + more))
    }

    @Test(arguments: [1, 8, 30])
    func `whatever others hold, each client has its own part`(clients: Int) {
        for _ in 0..<clients { _ = fill(share(ClientUse())) }
        let client = ClientUse()
        let fresh = share(client)
        #expect(fresh.reserve(Self.all / 256 / 2))
        #expect(fresh.reserve(Self.all / 256 / 2), "one body after the other, or two at once")
        fresh.release(Self.all / 256)
        #expect(client.memory.amount == 0)
    }

    @Test func `beyond its own part a client finds nothing where others have taken their shares`() {
        for _ in 0..<12 { _ = fill(share(ClientUse())) }
        #expect(!share(ClientUse()).reserve(Self.all / 256 + 1))
        #expect(budget.lend(Self.all / 16) { true } == true, "work that ends by itself finds the reserve")
    }

    @Test func `what is given back is given back to budget, connection and client`() {
        let (client, connection) = (ClientUse(), ClientUse())
        do {
            var loan = MemoryLoan(1000, from: share(client, connection))
            #expect(client.memory.amount == 1000)
            #expect(loan?.resize(to: 3000) == true)
            #expect(connection.memory.amount == 3000)
            #expect(loan?.resize(to: Self.all) == false)
            #expect(budget.takenBytes == 3000)
            #expect(loan?.resize(to: 10) == true)
            #expect(client.memory.amount == 10)
        }
        #expect((budget.takenBytes, connection.memory.amount, client.memory.amount) == (0, 0, 0))
    }

    @Test func `a connection that is its own client counts once`() {
        let one = ClientUse()
        let own = share(one, one)
        #expect(own.reserve(1000))
        #expect(one.memory.amount == 1000)
        own.release(400)
        #expect((budget.takenBytes, one.memory.amount) == (600, 600))
    }

    @Test func `a loan begins with its first size, and keeps its bytes if it cannot grow`() {
        let own = share(ClientUse())
        var loan: MemoryLoan?
        var results: [Bool] = []
        for bytes in [100, 300, Self.all, 50] { results.append(own.resize(&loan, to: bytes)) }
        #expect(results == [true, true, false, true])
        #expect(budget.takenBytes == 50)
        var refused: MemoryLoan?
        let isLent = own.resize(&refused, to: Self.all)
        #expect(!isLent && budget.takenBytes == 50)
        // The first loan lasts until here.
        let isSmaller = own.resize(&loan, to: 10)
        #expect(isSmaller)
    }

    @Test func `a refused loan takes nothing`() {
        let (client, connection) = (ClientUse(), ClientUse())
        for bytes in [Self.all, .max] {
            let isRefused = MemoryLoan(bytes, from: share(client, connection)) == nil
            #expect(isRefused)
        }
        #expect((budget.takenBytes, connection.memory.amount, client.memory.amount) == (0, 0, 0))
    }

    @Test func `clients of one connection share its part`() {
        let connection = ClientUse()
        let first = fill(share(ClientUse(), connection))
        #expect(fill(share(ClientUse(), connection)) == 0)
        #expect(first < Self.all / 3)
    }
}
