internal import Primitives
internal import Testing

@Suite struct FlightsTests {
    typealias Turn = Flights<String, Int>.Turn

    @Test func `the first does the work, the others wait, and all are returned in their order`() {
        var flights = Flights<String, Int>(worksMax: 2, waitersMax: 3)
        let turns = [("a", 1), ("a", 2), ("b", 9)].map { flights.join($0.0, $0.1) }
        #expect(turns == [Turn.first, .waits, .first])
        let (landed, again) = (flights.land("a"), flights.land("a"))
        #expect(landed == [1, 2] && again.isEmpty)
        #expect(!flights.isUnderWay("a") && flights.isUnderWay("b") && !flights.isEmpty)
        let anew = flights.join("a", 3)
        #expect(anew == .first)
    }

    @Test func `more works or waiters than permitted are refused, and room comes back`() {
        var flights = Flights<String, Int>(worksMax: 2, waitersMax: 3)
        let waiters = (1...4).map { flights.join("a", $0) }
        #expect(waiters == [Turn.first, .waits, .waits, .refused] && flights.hasRoom)
        let works = ["b", "c", "b"].map { flights.join($0, 1) }
        #expect(works == [Turn.first, .refused, .waits] && !flights.hasRoom)
        let landed = flights.land("a")
        #expect(landed == [1, 2, 3] && flights.hasRoom)
        let next = flights.join("c", 1)
        #expect(next == .first && !flights.hasRoom)
    }
}
