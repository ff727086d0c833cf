import Testing

@testable import Proxy

struct BalancerTests {
    /// Returns the places that so many requests get, for places with these standings.
    private func places(
        _ times: Int, _ standings: [EndpointHealth.Standing?],
        by method: Configuration.Upstream.Balance = .roundRobin,
        active: [Int] = []
    ) -> [Int?] {
        var balancer = Balancer()
        return (0..<times).map { _ in
            balancer.choose(
                standings.count, by: method, standing: { standings[$0] }, active: { active[$0] })
        }
    }

    @Test func `round robin goes from one to the next and begins again`() {
        #expect(places(7, [.up, .up, .up]) == [0, 1, 2, 0, 1, 2, 0])
        #expect(places(2, [.up]) == [0, 0])
    }

    @Test func `one that is out has no turn as long as another is up`() {
        #expect(places(5, [.up, .out(badness: 1), .up]) == [0, 2, 0, 2, 0])
    }

    @Test func `one whose trial is due has its turn`() {
        #expect(places(3, [.up, .due, .up]) == [0, 1, 2])
        #expect(places(1, [.up, .due], by: .leastConnections, active: [0, 9]) == [1])
    }

    @Test func `where all are out the least bad is taken`() {
        #expect(places(2, [.out(badness: 7), .out(badness: 5), .out(badness: .max)]) == [1, 1])
        #expect(places(3, [.out(badness: 5), .out(badness: 5)]) == [0, 1, 0], "equals take turns")
    }

    @Test func `one that has been passed over is not taken, however good`() {
        #expect(places(2, [nil, .out(badness: 9), nil]) == [1, 1])
        #expect(places(1, [nil, nil]) == [nil])
        #expect(places(1, []) == [nil])
    }

    @Test func `least connections takes the one with the fewest, and equals in turn`() {
        #expect(places(1, [.up, .up, .up], by: .leastConnections, active: [3, 1, 2]) == [1])
        #expect(places(4, [.up, .up, .up], by: .leastConnections, active: [1, 1, 9]) == [0, 1, 0, 1])
        #expect(places(1, [.out(badness: 1), .up], by: .leastConnections, active: [0, 100]) == [1])
    }
}
