import Testing

@testable import HTTP

struct ClientStateMachineTests {
    /// Makes a machine and performs the steps of its first exchange.
    private func machine(_ steps: (inout ClientStateMachine) -> Void) -> ClientStateMachine {
        var machine = ClientStateMachine()
        machine.begin()
        steps(&machine)
        return machine
    }

    private func exchange(_ machine: inout ClientStateMachine) {
        machine.connected()
        machine.requestEnded()
        machine.bytesCame()
        machine.headCame(keepsAlive: true, endsWithConnection: false)
        _ = machine.responseEnded(hasSurplus: false)
    }

    @Test func `what a lost connection means depends on how far the exchange had come`() {
        let connecting = machine { _ in }
        #expect(connecting.meaningOfLoss == .connectFailed(SystemError(code: 0)))
        let waiting = machine { $0.connected() }
        #expect(waiting.meaningOfLoss == .closedBeforeHead)
        let hearing = machine {
            $0.connected()
            $0.bytesCame()
        }
        #expect(hearing.meaningOfLoss == .closedBeforeHead)
        let reading = machine {
            $0.connected()
            $0.bytesCame()
            $0.headCame(keepsAlive: true, endsWithConnection: false)
        }
        #expect(reading.meaningOfLoss == .truncated)
        var idle = machine { exchange(&$0) }
        #expect(idle.meaningOfLoss == nil)
        idle.closed()
        #expect(idle.phase == .closed)
        #expect(idle.meaningOfLoss == nil)
    }

    @Test func `only a kept connection without a byte of the answer is stale`() {
        let stale = machine {
            exchange(&$0)
            $0.begin()
        }
        #expect(stale.meaningOfLoss == .stale)
        let begun = machine {
            exchange(&$0)
            $0.begin()
            $0.bytesCame()
        }
        #expect(begun.meaningOfLoss == .closedBeforeHead)
    }

    @Test(arguments: [
        (true, false, true, false, true), (false, false, true, false, false),
        (true, true, true, false, false),
        (true, false, false, false, false), (true, false, true, true, false),
    ])
    func `a connection is kept only if both sides are whole, it persists, and nothing is left over`(
        keepsAlive: Bool, endsWithConnection: Bool, isRequestWhole: Bool, hasSurplus: Bool, isKept: Bool
    ) {
        var machine = machine {
            $0.connected()
            if isRequestWhole { $0.requestEnded() }
            $0.bytesCame()
            $0.headCame(keepsAlive: keepsAlive, endsWithConnection: endsWithConnection)
        }
        #expect(machine.responseEnded(hasSurplus: hasSurplus) == isKept)
        #expect(machine.phase == (isKept ? .idle : .closed))
        #expect(!machine.isExchanging)
    }

    private enum Event: CaseIterable {
        case connected, begin, requestEnded, bytesCame, head, lastHead, responseEnded, surplusEnded, lost
    }

    private func allows(_ event: Event, _ machine: ClientStateMachine) -> Bool {
        switch event {
        case .connected: machine.phase == .connecting
        case .begin: machine.phase == .idle
        case .requestEnded: machine.isExchanging && !machine.isRequestWhole
        case .bytesCame, .head, .lastHead:
            machine.phase == .awaitingHead
        case .responseEnded, .surplusEnded: machine.phase == .body
        case .lost: machine.phase != .closed
        }
    }

    private func apply(_ event: Event, _ machine: inout ClientStateMachine) {
        switch event {
        case .connected: machine.connected()
        case .begin: machine.begin()
        case .requestEnded: machine.requestEnded()
        case .bytesCame: machine.bytesCame()
        case .head: machine.headCame(keepsAlive: true, endsWithConnection: false)
        case .lastHead: machine.headCame(keepsAlive: false, endsWithConnection: false)
        case .responseEnded: _ = machine.responseEnded(hasSurplus: false)
        case .surplusEnded: _ = machine.responseEnded(hasSurplus: true)
        case .lost: machine.closed()
        }
    }

    @Test
    func `in every order of events only a whole exchange makes a connection idle, and closed is the end`() {
        var states = [machine { _ in }]
        var looked = 0
        for _ in 0..<10 {
            var following: [ClientStateMachine] = []
            for state in states {
                for event in Event.allCases where allows(event, state) {
                    var next = state
                    apply(event, &next)
                    looked += 1
                    if next.phase == .idle {
                        #expect(state.phase == .body && state.isRequestWhole && state.isPersistent)
                        #expect(next.exchanges == state.exchanges + 1)
                    }
                    #expect(next.isExchanging || next.phase == .idle || next.phase == .closed)
                    if next.phase != .closed { following.append(next) }
                }
            }
            states = following
        }
        #expect(looked > 1000)
    }

    @Test func `each request begins without a pause, without bytes sent and without bytes received`() {
        var kept = machine {
            $0.bytesWent()
            exchange(&$0)
            $0.pause()
        }
        #expect(kept.hasSent && kept.hasReceived && kept.isPaused && kept.isReused)
        kept.begin()
        #expect(!kept.hasSent && !kept.hasReceived && !kept.isPaused)
        #expect(kept.resume() == false)
    }

    @Test func `the sent side of a tunnel closes once, when its source has ended`() {
        var tunnel = machine {
            $0.connected()
            $0.requestEnded()
            $0.bytesCame()
        }
        #expect(tunnel.closesWriting() == false)
        tunnel.protocolSwitched()
        #expect(tunnel.isTunnel)
        #expect(tunnel.closesWriting() == false)
        tunnel.requestEnded()
        #expect(tunnel.closesWriting() == true)
        #expect(tunnel.closesWriting() == false)
    }

    @Test func `a connection is not kept after a tunnel, nor after a request that none may follow`() {
        var tunnel = machine {
            $0.connected()
            $0.bytesCame()
            $0.protocolSwitched()
            $0.requestEnded()
        }
        #expect(tunnel.responseEnded(hasSurplus: false) == false)
        var last = machine { exchange(&$0) }
        last.begin(persists: false)
        last.requestEnded()
        last.headCame(keepsAlive: true, endsWithConnection: false)
        #expect(last.responseEnded(hasSurplus: false) == false)
        #expect(last.phase == .closed)
    }

    @Test func `a kept connection is read although the receiver of its last response was full`() {
        var kept = machine {
            $0.connected()
            $0.requestEnded()
            $0.bytesCame()
            $0.headCame(keepsAlive: true, endsWithConnection: false)
            $0.pause()
        }
        #expect(kept.responseEnded(hasSurplus: false) == true)
        #expect(!kept.isPaused)
    }

    @Test(
        arguments: [
            (0, "NO_ERROR"), (2, "INTERNAL_ERROR"), (7, "REFUSED_STREAM"), (8, "CANCEL"),
            (11, "ENHANCE_YOUR_CALM"), (13, "HTTP_1_1_REQUIRED"), (14, "error code 14"),
            (.max, "error code 4294967295"),
        ] as [(UInt32, String)])
    func `an error code of HTTP/2 has the name of RFC 9113, and an unknown one its number`(
        code: UInt32, name: String
    ) {
        #expect(HTTP2Failure.name(ofCode: code) == name)
    }
}
