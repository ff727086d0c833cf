import Testing

@testable import HTTP

/// The places of connections: who gets none takes none.
struct ConnectionCountTests {
    @Test func `as many connections enter as the limit says, and who does not enter takes no place`() {
        let count = ConnectionCount()
        #expect(count.enter(limit: 2))
        #expect(count.enter(limit: 2))
        for _ in 0..<3 { #expect(!count.enter(limit: 2)) }
        #expect(count.current == 2)
        count.leave()
        #expect(count.enter(limit: 2))
    }

    @Test func `32 refusals at a time get a response, however many there were`() {
        let count = ConnectionCount()
        for number in 1...32 { #expect(count.enterRefused(), "\(number)") }
        for _ in 0..<3 { #expect(!count.enterRefused()) }
        count.leaveRefused()
        #expect(count.enterRefused())
        #expect(!count.enterRefused())
        #expect(count.current == 0)
    }

    @Test func `a client that leaves once has its other places still`() {
        let counts = ClientConnectionCount()
        for _ in 0..<2 { #expect(counts.enter(1, limit: 2, free: 100)) }
        #expect(!counts.enter(1, limit: 2, free: 100))
        counts.leave(1)
        #expect(counts.clientCount == 1)
        #expect(counts.enter(1, limit: 2, free: 100))
        #expect(!counts.enter(1, limit: 2, free: 100))
        for _ in 0..<2 { counts.leave(1) }
        #expect(counts.clientCount == 0)
    }
}
