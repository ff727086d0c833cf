import Testing

@testable import HTTP

struct ServerStateMachineTests {
    /// The events of a connection, for every order up to a length.
    private enum Event: CaseIterable {
        case partialHead, beginBodiless, beginWithBody, beginLast, requestEnded, answerStarted,
            answerStartedUntilClose
        case answerEnded, peerClosed, stop
    }

    private struct Run {
        var machine = ServerStateMachine()
        var begun = 0
        var answered = 0
        var next: ServerStateMachine.Next?

        /// True if the connection would let this event happen now.
        func allows(_ event: Event) -> Bool {
            switch event {
            case .partialHead, .beginBodiless, .beginWithBody, .beginLast:
                if case .head = machine.input { next == nil || next == .request } else { false }
            case .requestEnded:
                if case .body = machine.input { true } else { false }
            case .answerStarted, .answerStartedUntilClose:
                machine.isExchanging && machine.output == .none
            case .answerEnded:
                machine.isExchanging && machine.output == .body
            case .peerClosed:
                !machine.isPeerClosed
            case .stop:
                !machine.isStopping
            }
        }

        mutating func apply(_ event: Event) {
            switch event {
            case .partialHead: machine.headIsPartial()
            case .beginBodiless: begin(hasBody: false, keepsAlive: true)
            case .beginWithBody: begin(hasBody: true, keepsAlive: true)
            case .beginLast: begin(hasBody: false, keepsAlive: false)
            case .requestEnded: machine.requestEnded()
            case .answerStarted: _ = machine.answerStarted(endsWithConnection: false)
            case .answerStartedUntilClose: _ = machine.answerStarted(endsWithConnection: true)
            case .answerEnded:
                next = machine.answerEnded()
                answered += 1
            case .peerClosed: _ = machine.peerClosed()
            case .stop: machine.stop()
            }
        }

        private mutating func begin(hasBody: Bool, keepsAlive: Bool) {
            machine.begin(hasBody: hasBody, keepsAlive: keepsAlive)
            begun += 1
            next = nil
        }
    }

    @Test func `in every order of events one exchange is open at a time and input is wanted unless it waits`()
    {
        var runs = [Run()]
        var looked = 0
        for _ in 0..<7 {
            var following: [Run] = []
            for run in runs {
                for event in Event.allCases where run.allows(event) {
                    var run = run
                    run.apply(event)
                    check(run)
                    looked += 1
                    following.append(run)
                }
            }
            runs = following
        }
        #expect(looked > 1000)
    }

    private func check(_ run: Run) {
        let machine = run.machine
        #expect(run.begun - run.answered == (machine.isExchanging ? 1 : 0))
        if run.next == .request { #expect(machine.isPersistent || machine.isStopping) }
        switch machine.input {
        case .complete: #expect(!machine.wantsInput && machine.isExchanging)
        case .discarded: #expect(machine.wantsInput && !machine.isExchanging)
        case .body: #expect(machine.wantsInput && machine.isExchanging)
        case .head: #expect(machine.wantsInput && !machine.isExchanging)
        }
    }

    @Test func `after a whole request and answer the next request is awaited`() {
        var machine = ServerStateMachine()
        machine.headIsPartial()
        machine.begin(hasBody: true, keepsAlive: true)
        machine.requestEnded()
        #expect(machine.answerStarted(endsWithConnection: false) == true)
        #expect(machine.answerEnded() == .request)
    }

    @Test func `the last answer to a whole request ends the connection`() {
        var machine = ServerStateMachine()
        machine.begin(hasBody: false, keepsAlive: false)
        #expect(machine.answerStarted(endsWithConnection: false) == false)
        #expect(machine.answerEnded() == .close)
        #expect(machine.isExchanging == false)
    }

    @Test func `an answer that overtakes its request ends the connection`() {
        var machine = ServerStateMachine()
        machine.begin(hasBody: true, keepsAlive: true)
        #expect(machine.answerStarted(endsWithConnection: false) == false)
        machine.requestEnded()
        #expect(machine.answerEnded() == .close)
        #expect(!machine.isPersistent)
    }

    @Test func `an answer that ends before its request lingers and takes nothing more`() {
        var machine = ServerStateMachine()
        machine.begin(hasBody: true, keepsAlive: true)
        _ = machine.answerStarted(endsWithConnection: false)
        #expect(machine.answerEnded() == .linger)
        machine.requestEnded()
        guard case .discarded = machine.input else {
            Issue.record("the rest is not discarded")
            return
        }
    }

    @Test func `an answer without length ends the connection`() {
        var machine = ServerStateMachine()
        machine.begin(hasBody: false, keepsAlive: true)
        #expect(machine.answerStarted(endsWithConnection: true) == false)
        #expect(machine.answerEnded() == .close)
    }

    @Test func `stopping lets a connection have one more response, which says that it is the last`() {
        var idle = ServerStateMachine()
        idle.begin(hasBody: false, keepsAlive: true)
        #expect(idle.answerStarted(endsWithConnection: false) == true)
        #expect(idle.answerEnded() == .request)
        idle.stop()
        idle.begin(hasBody: false, keepsAlive: true)
        #expect(idle.answerStarted(endsWithConnection: false) == false)
        #expect(idle.answerEnded() == .close)
        var fresh = ServerStateMachine()
        fresh.stop()
        fresh.begin(hasBody: false, keepsAlive: true)
        #expect(fresh.answerStarted(endsWithConnection: false) == false)
        #expect(fresh.answerEnded() == .close)
        var partial = ServerStateMachine()
        partial.headIsPartial()
        partial.stop()
        partial.begin(hasBody: false, keepsAlive: true)
        #expect(partial.answerStarted(endsWithConnection: false) == false)
        var busy = ServerStateMachine()
        busy.begin(hasBody: false, keepsAlive: true)
        #expect(busy.answerStarted(endsWithConnection: false) == true)
        busy.stop()
        // Its head promised that the connection stays open.
        #expect(busy.answerEnded() == .request)
        busy.begin(hasBody: false, keepsAlive: true)
        #expect(busy.answerStarted(endsWithConnection: false) == false)
        #expect(busy.answerEnded() == .close)
    }

    @Test func `a client that says no more is of use as long as its answer is open`() {
        var machine = ServerStateMachine()
        machine.begin(hasBody: false, keepsAlive: true)
        #expect(machine.peerClosed() == false)
        var idle = ServerStateMachine()
        #expect(idle.peerClosed() == true)
    }
}
