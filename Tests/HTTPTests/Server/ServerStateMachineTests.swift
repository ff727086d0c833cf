import Testing

@testable import HTTP

struct ServerStateMachineTests {
    /// The events of a connection, for every order up to a length.
    private enum Event: CaseIterable {
        case partialHead, beginBodiless, beginWithBody, beginLast, requestEnded, responseStarted,
            responseStartedUntilClose
        case responseEnded, peerClosed, stop
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
            case .responseStarted, .responseStartedUntilClose:
                machine.isExchanging && machine.output == .none
            case .responseEnded:
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
            case .responseStarted: _ = machine.responseStarted(endsWithConnection: false)
            case .responseStartedUntilClose: _ = machine.responseStarted(endsWithConnection: true)
            case .responseEnded:
                next = machine.responseEnded()
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
        #expect(machine.responseStarted(endsWithConnection: false) == true)
        #expect(machine.responseEnded() == .request)
    }

    @Test func `the last answer to a whole request ends the connection`() {
        var machine = ServerStateMachine()
        machine.begin(hasBody: false, keepsAlive: false)
        #expect(machine.responseStarted(endsWithConnection: false) == false)
        #expect(machine.responseEnded() == .close)
        #expect(machine.isExchanging == false)
    }

    @Test func `an answer that overtakes its request ends the connection`() {
        var machine = ServerStateMachine()
        machine.begin(hasBody: true, keepsAlive: true)
        #expect(machine.responseStarted(endsWithConnection: false) == false)
        machine.requestEnded()
        #expect(machine.responseEnded() == .close)
        #expect(!machine.isPersistent)
    }

    @Test func `an answer that ends before its request lingers and takes nothing more`() {
        var machine = ServerStateMachine()
        machine.begin(hasBody: true, keepsAlive: true)
        _ = machine.responseStarted(endsWithConnection: false)
        #expect(machine.responseEnded() == .linger)
        machine.requestEnded()
        guard case .discarded = machine.input else {
            Issue.record("the rest is not discarded")
            return
        }
    }

    @Test func `an answer without length ends the connection`() {
        var machine = ServerStateMachine()
        machine.begin(hasBody: false, keepsAlive: true)
        #expect(machine.responseStarted(endsWithConnection: true) == false)
        #expect(machine.responseEnded() == .close)
    }

    @Test func `stopping lets a connection have one more response, which says that it is the last`() {
        var idle = ServerStateMachine()
        idle.begin(hasBody: false, keepsAlive: true)
        #expect(idle.responseStarted(endsWithConnection: false) == true)
        #expect(idle.responseEnded() == .request)
        idle.stop()
        idle.begin(hasBody: false, keepsAlive: true)
        #expect(idle.responseStarted(endsWithConnection: false) == false)
        #expect(idle.responseEnded() == .close)
        var fresh = ServerStateMachine()
        fresh.stop()
        fresh.begin(hasBody: false, keepsAlive: true)
        #expect(fresh.responseStarted(endsWithConnection: false) == false)
        #expect(fresh.responseEnded() == .close)
        var partial = ServerStateMachine()
        partial.headIsPartial()
        partial.stop()
        partial.begin(hasBody: false, keepsAlive: true)
        #expect(partial.responseStarted(endsWithConnection: false) == false)
        var busy = ServerStateMachine()
        busy.begin(hasBody: false, keepsAlive: true)
        #expect(busy.responseStarted(endsWithConnection: false) == true)
        busy.stop()
        // Its head promised that the connection stays open.
        #expect(busy.responseEnded() == .request)
        busy.begin(hasBody: false, keepsAlive: true)
        #expect(busy.responseStarted(endsWithConnection: false) == false)
        #expect(busy.responseEnded() == .close)
    }

    @Test func `a client that says no more is of use as long as its answer is open`() {
        var machine = ServerStateMachine()
        machine.begin(hasBody: false, keepsAlive: true)
        #expect(machine.peerClosed() == false)
        var idle = ServerStateMachine()
        #expect(idle.peerClosed() == true)
    }

    @Test func `after a response nothing is read until its output is gone`() {
        var machine = ServerStateMachine()
        #expect(machine.mayRead)
        machine.begin(hasBody: false, keepsAlive: true)
        #expect(!machine.mayRead)
        _ = machine.responseStarted(endsWithConnection: false)
        #expect(machine.pendingStep == nil)
        machine.responseEnded()
        #expect(machine.wantsInput && !machine.mayRead)
        #expect(machine.takeStep() == .request)
        #expect(machine.mayRead)
        #expect(machine.takeStep() == nil)
    }

    @Test func `a pause lasts until it is resumed or another request begins`() {
        var machine = ServerStateMachine()
        machine.begin(hasBody: true, keepsAlive: true)
        #expect(machine.mayRead)
        #expect(machine.resume() == false)
        machine.pause()
        #expect(!machine.mayRead && machine.wantsInput)
        #expect(machine.resume() == true)
        #expect(machine.mayRead)
        machine.pause()
        machine.begin(hasBody: true, keepsAlive: true)
        #expect(machine.mayRead)
    }

    @Test func `after a switch of protocols the connection is a tunnel`() {
        var machine = ServerStateMachine()
        machine.begin(hasBody: false, keepsAlive: true)
        #expect(!machine.isTunnel)
        machine.protocolSwitched()
        #expect(machine.isTunnel && machine.mayRead && machine.isExchanging && !machine.isPersistent)
    }

    @Test func `a withdrawn response makes room for another, which is the last once the server stops`() {
        var machine = ServerStateMachine()
        machine.begin(hasBody: false, keepsAlive: true)
        #expect(machine.responseStarted(endsWithConnection: true) == false)
        machine.responseWithdrawn(wasPersistent: true)
        #expect(machine.output == .none)
        #expect(machine.isPersistent)
        #expect(machine.responseStarted(endsWithConnection: false) == true)
        machine.stop()
        machine.responseWithdrawn(wasPersistent: true)
        #expect(!machine.isPersistent)
        var last = ServerStateMachine()
        last.begin(hasBody: false, keepsAlive: false)
        #expect(last.responseStarted(endsWithConnection: false) == false)
        last.responseWithdrawn(wasPersistent: false)
        #expect(!last.isPersistent)
    }
}
