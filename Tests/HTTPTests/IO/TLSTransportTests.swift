internal import Glibc
internal import TestSupport
import Testing

@testable import HTTP

/// The server's and the client's transport connected to each other.
@Suite(.timeLimit(.minutes(40))) struct TLSTransportTests {
    private let nothing: [UInt8] = []

    @Test func `bytes pass in order, however full the socket is and however they are cut`() throws {
        let pair = try TLSPair()
        let body = Noise.bytes(9_000_000, seed: 3)
        var (sent, got, stops) = (0, [UInt8](), 0)
        while got.count < body.count {
            // Two pieces of odd lengths, as a head and a body; bytes that are not taken are offered again from
            // another address.
            let middle = min(body.count, sent + 700)
            let end = min(body.count, sent + 50_001)
            let (first, second) = (Array(body[sent..<middle]), Array(body[middle..<end]))
            switch sent < end ? pair.client.write(first.span, second.span) : .wouldBlock {
            case .wrote(let count): sent += count
            case .failed(let error): throw error
            case .wouldBlock:
                stops += 1
                var outcome = ReadOutcome.wouldBlock
                got += pair.server.take(&outcome)
                if outcome == .wouldBlock { TLSPair.rest() }
            }
        }
        #expect(got == body)
        #expect(stops > 1)
    }

    @Test(arguments: [1, 16 * 1024, 16 * 1024 + 1, 20_000, 32 * 1024])
    func `the last record of a write goes out at once`(_ count: Int) throws {
        let pair = try TLSPair()
        let body = [UInt8](repeating: 7, count: count)
        #expect(pair.server.write(body.span, nothing.span) == .wrote(count))
        #expect(unsentBytes(of: pair.server) == 0)
        pair.server.closeWriting()
        #expect(unsentBytes(of: pair.server) == 0)
    }

    /// The number of bytes that the kernel has and has never sent.
    private func unsentBytes(of transport: TLSTransport) -> Int32 {
        let siocoutqnsd: UInt = 0x894B
        var count: Int32 = -1
        // Safe: `count` is local and outlives the call.
        _ = unsafe ioctl(transport.descriptor, siocoutqnsd, &count)
        return count
    }

    @Test func `a flight that the socket has no room for goes on as the peer reads`() throws {
        // A certificate of 90 KB, which exceeds the peer's window of 64 KB and the socket's small buffer.
        let pair = try TLSPair(nameCount: 3600, sendBytes: 4096)
        let hello = Array("hello".utf8)
        #expect(pair.server.write(hello.span, nothing.span) == .wrote(hello.count))
        var outcome = ReadOutcome.wouldBlock
        var got: [UInt8] = []
        repeat { got = pair.client.take(&outcome) } while outcome == .wouldBlock
        #expect(got == hello)
    }

    @Test func `a peer whose records carry little has its turn, and no more`() throws {
        let pair = try TLSPair()
        let one: [UInt8] = [7]
        var sent = 0
        while sent < 30_000, pair.client.write(one.span, nothing.span) == .wrote(1) { sent += 1 }
        // A record of one byte takes 23 on the wire; OpenSSL reads 16 KiB and some ahead.
        let most = (TLSTransport.inputBytesMax + 17 * 1024) / 23 + 1
        try #require(sent > 2 * most)
        var outcome = ReadOutcome.wouldBlock
        let first = pair.server.take(&outcome)
        #expect(first.count <= most)
        #expect(outcome == .bytes(first.count, mayHaveMore: true))
        var count = first.count
        while count < sent {
            count += pair.server.take(&outcome).count
            if outcome == .wouldBlock { TLSPair.rest() }
        }
        #expect(count == sent)
    }

    @Test func `an end for which the socket has no room goes out once it has`() throws {
        let one: [UInt8] = [7]
        func fill(_ pair: TLSPair, atMost max: Int = .max) -> Int {
            var count = 0
            while count < max, pair.server.write(one.span, nothing.span) == .wrote(1) { count += 1 }
            return count
        }
        // One record more than the socket takes would stay with OpenSSL and go before the end, so count them before. The
        // kernel's allowance is not the same for each connection.
        for _ in 0..<50 {
            let room = fill(try TLSPair(sendBytes: 4096))
            let pair = try TLSPair(sendBytes: 4096)
            guard fill(pair, atMost: room) == room else { continue }
            pair.server.closeWriting()
            guard isOpen(pair.server) else { continue }
            var (received, outcome, own) = (0, ReadOutcome.wouldBlock, ReadOutcome.wouldBlock)
            // The client reads all, and then the server's socket is writable.
            for _ in 0..<1000 where outcome != .end && outcome != .cutOff {
                received += pair.client.take(&outcome).count
                guard outcome == .wouldBlock else { continue }
                _ = pair.server.take(&own)
                TLSPair.rest()
            }
            #expect(received == room)
            #expect(outcome == .end)
            #expect(!isOpen(pair.server))
            return
        }
        Issue.record("no socket was full")
    }

    /// True while the kernel has sent no end of this side.
    private func isOpen(_ transport: TLSTransport) -> Bool {
        // The first byte of `tcp_info`; 1 is ESTABLISHED.
        var (state, count) = (UInt8(0), socklen_t(1))
        // Safe: `state` and `count` are local and outlive the call.
        _ = unsafe getsockopt(transport.descriptor, Int32(IPPROTO_TCP), TCP_INFO, &state, &count)
        return state == 1
    }

    @Test func `an end is told from a connection that is cut off`() throws {
        var outcome = ReadOutcome.wouldBlock
        let whole = try TLSPair()
        whole.client.closeWriting()
        repeat { _ = whole.server.take(&outcome) } while outcome == .wouldBlock
        #expect(outcome == .end)
        let cut = try TLSPair()
        cut.client.resetOnClose()
        PlainEnd.close(cut.client)
        repeat { _ = cut.server.take(&outcome) } while outcome == .wouldBlock
        #expect(outcome == .cutOff)
        // The other direction has its own end, and an end is reported only once.
        cut.server.closeWriting()
        _ = cut.server.take(&outcome)
        #expect(outcome == .cutOff)
    }

    @Test func `a client that may be a replay gets no further record once it has 32 KiB`() {
        var early = TLSEarlyData()
        early.responded(32 * 1024 - 1)
        #expect(early.mayRespond)
        early.responded(1)
        #expect(!early.mayRespond)
    }
}

/// The end of a connection without TLS's closure alert.
private enum PlainEnd {
    static func close(_ transport: TLSTransport) { shutdown(transport.descriptor, Int32(SHUT_WR)) }
}
