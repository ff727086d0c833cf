internal import Testing

@testable import HTTP

/// The state of a stream takes events in every order that a client and an application may choose.
@Suite struct HTTP2StreamStateTests {
    private var state = HTTP2StreamState()

    @Test mutating func `a request with a body is told its end once`() {
        state.headEnded(endsStream: false)
        state.begin(awaitsEnd: true)
        #expect(state.awaitsRequest)
        state.trailersBegan()
        #expect(state.input == .trailers)
        #expect(state.requestEnded() == .tell)
        #expect(!state.awaitsRequest)
        #expect(state.requestEnded() == .nothing)
    }

    @Test mutating func `a request without a body is told no end`() {
        state.headEnded(endsStream: true)
        #expect(!state.awaitEmptyEnd())
        state.begin(awaitsEnd: false)
        #expect(state.requestEnded() == .nothing)
        #expect(!state.awaitsRequest)
    }

    @Test mutating func `a request that promises an empty body begins at its end`() {
        state.headEnded(endsStream: false)
        #expect(state.awaitEmptyEnd())
        #expect(state.awaitsRequest)
        #expect(!state.hasBegun)
        #expect(state.requestEnded() == .begin)
        #expect(!state.awaitEmptyEnd())
    }

    @Test mutating func `nobody waits for the body of a receiver that is full`() {
        state.begin(awaitsEnd: true)
        state.pause()
        #expect(!state.awaitsRequest)
        #expect(state.resume())
        #expect(!state.resume())
        #expect(state.awaitsRequest)
    }

    @Test mutating func `a refused request has begun, and is waited for no more`() {
        state.headEnded(endsStream: false)
        state.refuse()
        #expect(state.hasBegun)
        #expect(!state.awaitsRequest)
        #expect(state.requestEnded() == .nothing)
    }

    @Test mutating func `a stream that the client resets has ended for it, but its request has not`() {
        state.headEnded(endsStream: false)
        state.resetByClient()
        #expect(state.isEndedByClient)
        #expect(!state.isRequestEnded)
    }

    @Test mutating func `a response starts and ends once`() {
        #expect(!state.finish())
        #expect(state.start(.body))
        #expect(state.takesBytes)
        #expect(!state.start(.none))
        #expect(state.finish())
        #expect(state.isResponseWhole)
        #expect(!state.takesBytes)
        #expect(!state.isExchanging)
        #expect(!state.finish())
        #expect(!state.start(.body))
        #expect(state.content == .body)
    }

    @Test mutating func `a response without a body takes no bytes`() {
        #expect(state.start(.none))
        #expect(!state.takesBytes)
        #expect(state.isExchanging)
        #expect(state.finish())
    }

    @Test mutating func `a head that is taken back makes room for another, but a tunnel is not taken back`() {
        #expect(!state.withdraw())
        #expect(state.start(.body))
        #expect(state.withdraw())
        #expect(state.start(.tunnel))
        #expect(!state.withdraw())
        #expect(state.isTunnel)
    }

    @Test mutating func `a tunnel is told the end of what the client sends`() {
        state.headEnded(endsStream: false)
        state.begin(awaitsEnd: false)
        #expect(state.start(.tunnel))
        #expect(state.requestEnded() == .tell)
    }

    @Test(arguments: [HTTP2StreamState.Content.none, .body, .tunnel])
    func `nothing follows on a stream that is given up`(content: HTTP2StreamState.Content) {
        var state = HTTP2StreamState()
        #expect(state.start(content))
        state.abandon()
        #expect(!state.isExchanging)
        #expect(!state.isResponseWhole)
        #expect(!state.takesBytes)
        #expect(!state.start(content))
        #expect(!state.finish())
        #expect(!state.withdraw())
        #expect(state.content == nil)
    }
}
