import Primitives
import TestSupport
import Testing

@testable import HTTP

struct OutputBufferTests {
    /// A transport that takes a fixed number of bytes per call, up to a total.
    private final class Narrow: ConnectionTransport {
        var taken: [UInt8] = []
        var allowances: [Int]

        init(_ allowances: [Int]) { self.allowances = allowances }

        let descriptor: Int32 = -1
        func read(into buffer: UnsafeMutableRawBufferPointer) -> ReadOutcome { .wouldBlock }
        func closeWriting() {}
        func resetOnClose() {}

        func write(_ first: Span<UInt8>, _ second: Span<UInt8>) -> WriteOutcome {
            guard !allowances.isEmpty else { return .wouldBlock }
            let allowance = allowances.removeFirst()
            let fromFirst = min(allowance, first.count)
            let fromSecond = min(allowance - fromFirst, second.count)
            taken.append(first.extracting(0..<fromFirst))
            taken.append(second.extracting(0..<fromSecond))
            return .wrote(fromFirst + fromSecond)
        }
    }

    @Test func `what a transport takes in any portions stays in order, none lost and none twice`() {
        var random = SplitMix(seed: 3)
        for _ in 0..<200 {
            let transport = Narrow((0..<40).map { _ in Int.random(in: 0...60, using: &random) })
            var buffer = OutputBuffer()
            var sent: [UInt8] = []
            for _ in 0..<20 {
                let piece = (0..<Int.random(in: 0...50, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                sent += piece
                if Bool.random(using: &random) {
                    buffer.took(buffer.offer(piece.span, to: transport), piece.span)
                } else {
                    buffer.append(piece.span)
                    buffer.took(buffer.offer(to: transport))
                }
                #expect(transport.taken.count + buffer.count == sent.count)
                #expect(buffer.totalBytes == sent.count, "the access log counts them")
            }
            transport.allowances = [.max]
            buffer.took(buffer.offer(to: transport))
            #expect(transport.taken == sent)
            #expect(buffer.isEmpty)
        }
    }

    @Test func `a record that is encrypted cannot be withdrawn, and what is behind it can`() throws {
        let pair = try TLSPair(sendBytes: 4096)
        var buffer = OutputBuffer()
        buffer.append([UInt8](repeating: 1, count: 9_000_000).span)
        // As if the first response ended just where the socket has become full.
        var outcome = buffer.offer(to: pair.server)
        while outcome != .wouldBlock {
            buffer.took(outcome)
            outcome = buffer.offer(to: pair.server)
        }
        let gone = buffer.totalBytes - buffer.count
        let begun = pair.server.begunBytes
        #expect(begun == 16 * 1024)
        #expect(buffer.withdraw(backTo: gone, from: pair.server) == false)
        #expect(buffer.withdraw(backTo: gone + begun - 1, from: pair.server) == false)
        #expect(buffer.withdraw(backTo: gone + begun, from: pair.server) == true)
        buffer.append([UInt8](repeating: 2, count: 50_000).span)
        var (received, read) = ([UInt8](), ReadOutcome.wouldBlock)
        while received.count < buffer.totalBytes {
            buffer.took(buffer.offer(to: pair.server))
            received += pair.client.take(&read)
            try #require(read == .wouldBlock || !received.isEmpty)
            if read == .wouldBlock { TLSPair.rest() }
        }
        let isWhole =
            received == [UInt8](repeating: 1, count: gone + begun) + [UInt8](repeating: 2, count: 50_000)
        #expect(isWhole)
        #expect(pair.server.begunBytes == 0)
    }

    @Test func `what a slow transport leaves does not grow with what it has taken`() {
        let transport = Narrow(Array(repeating: 1000, count: 1000))
        var buffer = OutputBuffer()
        let piece = [UInt8](repeating: 7, count: 1000)
        buffer.append(piece.span)
        for _ in 0..<900 { buffer.took(buffer.offer(piece.span, to: transport), piece.span) }
        #expect(buffer.count == 1000)
        #expect(buffer.bytes.count <= 70_000)
    }

    @Test func `what has gone leaves no large memory, but for a connection with streams`() {
        let transport = Narrow(Array(repeating: .max, count: 4))
        var buffer = OutputBuffer()
        func pass() {
            buffer.append([UInt8](repeating: 7, count: 100_000).span)
            buffer.took(buffer.offer(to: transport))
            #expect(buffer.isEmpty)
        }
        pass()
        #expect(buffer.bytes.capacity <= 4096)
        buffer.keepMemory(of: 200_000)
        pass()
        #expect(buffer.bytes.capacity >= 100_000)
        buffer.keepMemory(of: nil)
        #expect(buffer.bytes.capacity <= 4096)
        pass()
        #expect(buffer.bytes.capacity <= 4096)
    }
}
