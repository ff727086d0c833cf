import Testing

@testable import Proxy

struct EndpointHealthTests {
    private let policy = EndpointHealth.Policy(failuresMax: 3, backOff: 100)

    /// One that is out since the time 0.
    private func ejected() -> EndpointHealth {
        var health = EndpointHealth()
        for _ in 0..<3 { _ = health.failed(now: 0, policy) }
        return health
    }

    @Test func `as many failures in a row as are set take it out, and that is told once`() {
        var health = EndpointHealth()
        #expect(health.isSpotless)
        #expect(health.failed(now: 0, policy) == nil)
        #expect(health.failed(now: 0, policy) == nil)
        #expect(health.standing(now: 0) == .up)
        #expect(!health.isSpotless)
        #expect(health.failed(now: 5, policy) == .ejected(milliseconds: 100, failures: 3))
        #expect(health.standing(now: 5) == .out(badness: 105))
        #expect(health.failed(now: 6, policy) == nil)
    }

    @Test func `an answer between failures begins the count anew`() {
        var health = EndpointHealth()
        for _ in 0..<10 {
            #expect(health.failed(now: 0, policy) == nil)
            #expect(health.failed(now: 0, policy) == nil)
            #expect(health.succeeded() == nil)
        }
        #expect(health.isSpotless)
    }

    @Test func `with 0 failures set none takes it out`() {
        var health = EndpointHealth()
        for _ in 0..<100 {
            #expect(health.failed(now: 0, EndpointHealth.Policy(failuresMax: 0, backOff: 100)) == nil)
        }
        #expect(health.standing(now: 0) == .up)
        // A reload may change the setting while one is out.
        var out = ejected()
        #expect(out.failed(now: 50, EndpointHealth.Policy(failuresMax: 0, backOff: 100)) == nil)
        #expect(out.standing(now: 50) == .up && !out.isOut)
        // The trial that was under way then is none for the next ejection.
        var tried = ejected()
        #expect(tried.beginTrial(now: 100) == true)
        _ = tried.failed(now: 100, EndpointHealth.Policy(failuresMax: 0, backOff: 100))
        for _ in 0..<3 { _ = tried.failed(now: 200, policy) }
        #expect(tried.standing(now: 300) == .due)
    }

    @Test func `after its back-off one request may try, and no second at the same time`() {
        var health = ejected()
        #expect(health.isOut)
        #expect(health.standing(now: 99) == .out(badness: 100))
        #expect(health.beginTrial(now: 99) == false)
        #expect(health.standing(now: 100) == .due)
        #expect(health.beginTrial(now: 100) == true)
        #expect(health.standing(now: 100) == .out(badness: 200))
        #expect(health.beginTrial(now: 100) == false)
    }

    @Test func `a trial that answers brings it back`() {
        var health = ejected()
        #expect(health.beginTrial(now: 100) == true)
        #expect(health.succeeded() == .readmitted)
        #expect(health.standing(now: 100) == .up)
        #expect(health.isSpotless)
    }

    @Test func `each trial that fails doubles the back-off, up to eight times the first`() {
        var health = ejected()
        var now: Int64 = 100
        for backOff: Int64 in [200, 400, 800, 800, 800] {
            #expect(health.beginTrial(now: now) == true)
            #expect(health.failed(now: now, policy) == nil)
            #expect(health.standing(now: now + backOff - 1) == .out(badness: now + backOff))
            now += backOff
            #expect(health.standing(now: now) == .due)
        }
    }

    @Test func `failures of requests that were under way before prolong nothing`() {
        var health = ejected()
        for _ in 0..<100 { #expect(health.failed(now: 50, policy) == nil) }
        #expect(health.standing(now: 100) == .due)
        #expect(health.beginTrial(now: 100) == true)
        for _ in 0..<3 { #expect(health.failed(now: 100, policy) == nil) }
        #expect(health.standing(now: 300) == .due, "the trial's own failure counts, and no other")
        // The same once it has been back in between.
        #expect(health.beginTrial(now: 300) == true)
        #expect(health.succeeded() == .readmitted)
        for _ in 0..<4 { _ = health.failed(now: 400, policy) }
        #expect(health.standing(now: 500) == .due)
    }

    @Test func `a trial of which nobody hears is followed by another`() {
        var health = ejected()
        #expect(health.beginTrial(now: 100) == true)
        #expect(health.standing(now: 199) == .out(badness: 200))
        #expect(health.beginTrial(now: 200) == true)
    }

    @Test func `the first check counts alone, later ones two in a row`() {
        var health = EndpointHealth()
        #expect(health.checked(isGood: false) == .checkedOut)
        #expect(health.standing(now: 0) == .out(badness: .max))
        #expect(!health.isSpotless)
        #expect(health.checked(isGood: true) == nil)
        #expect(health.checked(isGood: false) == nil)
        #expect(health.checked(isGood: true) == nil)
        #expect(health.checked(isGood: true) == .checkedIn)
        #expect(health.checked(isGood: false) == nil)
        #expect(health.isSpotless)
        #expect(health.checked(isGood: false) == .checkedOut)
    }

    @Test func `what the checks have out no request brings back`() {
        var health = EndpointHealth()
        _ = health.checked(isGood: false)
        #expect(health.succeeded() == nil)
        #expect(health.isOut)
        #expect(health.beginTrial(now: 1_000) == false)
        health.forgetChecks()
        #expect(health.isSpotless)
        #expect(health.checked(isGood: false) == .checkedOut, "the first check after them counts alone again")
    }
}
