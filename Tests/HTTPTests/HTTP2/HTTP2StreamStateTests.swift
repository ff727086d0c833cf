internal import Testing

@testable import HTTP

/// The state of a stream takes events in every order that a client and an application may choose.
@Suite struct HTTP2StreamStateTests {
    /// The state, as one that an expectation may change.
    private final class Stream {
        var state = HTTP2StreamState()

        func after<Outcome>(_ event: (inout HTTP2StreamState) -> Outcome) -> Outcome { event(&state) }
    }

    private let stream = Stream()
    private var state: HTTP2StreamState { stream.state }

    @Test func `a request with a body is told its end once`() {
        stream.state.headEnded(endsStream: false)
        stream.state.begin(awaitsEnd: true)
        #expect(state.awaitsRequest)
        stream.state.trailersBegan()
        #expect(state.input == .trailers)
        #expect(stream.after { $0.requestEnded() } == .tell)
        #expect(!state.awaitsRequest)
        #expect(stream.after { $0.requestEnded() } == .nothing)
    }

    @Test func `a request without a body is told no end`() {
        stream.state.headEnded(endsStream: true)
        #expect(!stream.after { $0.awaitEmptyEnd() })
        stream.state.begin(awaitsEnd: false)
        #expect(stream.after { $0.requestEnded() } == .nothing)
        #expect(!state.awaitsRequest)
    }

    @Test func `a request that promises an empty body begins at its end`() {
        stream.state.headEnded(endsStream: false)
        #expect(stream.after { $0.awaitEmptyEnd() })
        #expect(state.awaitsRequest)
        #expect(!state.hasBegun)
        #expect(stream.after { $0.requestEnded() } == .begin)
        #expect(!stream.after { $0.awaitEmptyEnd() })
    }

    @Test func `nobody waits for the body of a receiver that is full`() {
        stream.state.begin(awaitsEnd: true)
        stream.state.pause()
        #expect(!state.awaitsRequest)
        #expect(stream.after { $0.resume() })
        #expect(!stream.after { $0.resume() })
        #expect(state.awaitsRequest)
    }

    @Test func `a refused request has begun, and is waited for no more`() {
        stream.state.headEnded(endsStream: false)
        stream.state.refuse()
        #expect(state.hasBegun)
        #expect(!state.awaitsRequest)
        #expect(stream.after { $0.requestEnded() } == .nothing)
    }

    @Test func `a stream that the client resets has ended for it, but its request has not`() {
        stream.state.headEnded(endsStream: false)
        stream.state.resetByClient()
        #expect(state.isEndedByClient)
        #expect(!state.isRequestEnded)
    }

    @Test func `a response starts and ends once`() {
        #expect(!stream.after { $0.finish() })
        #expect(stream.after { $0.start(.body) })
        #expect(state.takesBytes)
        #expect(!stream.after { $0.start(.none) })
        #expect(stream.after { $0.finish() })
        #expect(state.isResponseWhole)
        #expect(!state.takesBytes)
        #expect(!state.isExchanging)
        #expect(!stream.after { $0.finish() })
        #expect(!stream.after { $0.start(.body) })
        #expect(state.content == .body)
    }

    @Test func `a response without a body takes no bytes`() {
        #expect(stream.after { $0.start(.none) })
        #expect(!state.takesBytes)
        #expect(state.isExchanging)
        #expect(stream.after { $0.finish() })
    }

    @Test func `a head that is taken back makes room for another, but a tunnel is not taken back`() {
        #expect(!stream.after { $0.withdraw() })
        #expect(stream.after { $0.start(.body) })
        #expect(stream.after { $0.withdraw() })
        #expect(stream.after { $0.start(.tunnel) })
        #expect(!stream.after { $0.withdraw() })
        #expect(state.isTunnel)
    }

    @Test func `a tunnel is told the end of what the client sends`() {
        stream.state.headEnded(endsStream: false)
        stream.state.begin(awaitsEnd: false)
        #expect(stream.after { $0.start(.tunnel) })
        #expect(stream.after { $0.requestEnded() } == .tell)
    }

    @Test(arguments: [HTTP2StreamState.Content.none, .body, .tunnel])
    func `nothing follows on a stream that is given up`(content: HTTP2StreamState.Content) {
        #expect(stream.after { $0.start(content) })
        stream.state.abandon()
        #expect(!state.isExchanging)
        #expect(!state.isResponseWhole)
        #expect(!state.takesBytes)
        #expect(!stream.after { $0.start(content) })
        #expect(!stream.after { $0.finish() })
        #expect(!stream.after { $0.withdraw() })
        #expect(state.content == nil)
    }
}
