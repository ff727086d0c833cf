import TestSupport
import Testing

@testable import Dictionaries
@testable import Storage

@Suite struct StoreHotBodiesTests {
    private func name(_ body: Body) -> BodyName { BodyName(scope: .public, digest: body.digest) }

    /// The bytes that a body counts: the allocator may give its array some more than it needs.
    private func size(_ body: Body) -> Int { body.bytes.capacity + 256 }

    @Test func `the least recently used body goes first`() {
        var hot = HotBodies(bytesMax: 4000)
        let bodies = (0..<4).map { sampleBody($0) }
        for body in bodies[0..<3] { hot.keep(body, as: name(body)) }
        #expect(hot.body(name(bodies[0])) != nil)
        hot.keep(bodies[3], as: name(bodies[3]))
        let kept = bodies.map { hot.body(name($0)) != nil }
        #expect(kept == [true, false, true, true])
        #expect(hot.bytes <= 4000)
    }

    @Test func `a pinned body stays until it is unpinned as often`() {
        var hot = HotBodies(bytesMax: 2600)
        let bodies = (0..<4).map { sampleBody($0) }
        hot.pin(bodies[0], as: name(bodies[0]))
        hot.pin(bodies[0], as: name(bodies[0]))
        hot.unpin(name(bodies[0]))
        for body in bodies[1...] { hot.keep(body, as: name(body)) }
        #expect(hot.body(name(bodies[0])) != nil)
        #expect(hot.count == 2)
        hot.unpin(name(bodies[0]))
        #expect(hot.pinnedBytes == 0)
        _ = hot.body(name(bodies[3]))
        hot.keep(bodies[1], as: name(bodies[1]))
        #expect(hot.body(name(bodies[0])) == nil)
    }

    @Test func `a reservation makes room by dropping what is not pinned, and is refused beyond that`() {
        var hot = HotBodies(bytesMax: 4000)
        let (free, pinned) = (sampleBody(1), sampleBody(2))
        hot.keep(free, as: name(free))
        hot.pin(pinned, as: name(pinned))
        let tooMuch = hot.reserve(4000 - size(pinned) + 1)
        #expect(!tooMuch)
        #expect(hot.body(name(free)) != nil)
        let justEnough = hot.reserve(4000 - size(pinned))
        #expect(justEnough)
        #expect(hot.body(name(free)) == nil)
        #expect(hot.body(name(pinned)) != nil)
        hot.release(4000 - size(pinned))
        #expect(hot.reservedBytes == 0)
    }

    @Test func `a body that yields goes before those that were used earlier`() {
        var hot = HotBodies(bytesMax: 4000)
        let bodies = (0..<5).map { sampleBody($0) }
        for body in bodies[0..<3] { hot.keep(body, as: name(body)) }
        for body in bodies[1...2] { hot.yield(name(body)) }
        for body in bodies[3...4] { hot.keep(body, as: name(body)) }
        let kept = bodies.map { hot.body(name($0)) != nil }
        #expect(kept == [true, false, false, true, true])
        hot.yield(name(bodies[0]))
        hot.remove(name(bodies[0]))
        #expect(hot.count == 2)
    }

    @Test func `a body that is alone when it yields goes before the next one`() {
        var hot = HotBodies(bytesMax: 2000)
        let (first, second) = (sampleBody(1), sampleBody(2))
        hot.keep(first, as: name(first))
        hot.yield(name(first))
        hot.keep(second, as: name(second))
        let kept = [first, second].map { hot.body(name($0)) != nil }
        #expect(kept == [false, true])
    }

    @Test func `a pinned body stays although it has yielded, and then is the first to go`() {
        var hot = HotBodies(bytesMax: 2600)
        let bodies = (0..<3).map { sampleBody($0) }
        hot.keep(bodies[0], as: name(bodies[0]))
        hot.pin(bodies[1], as: name(bodies[1]))
        hot.yield(name(bodies[1]))
        hot.keep(bodies[2], as: name(bodies[2]))
        let kept = bodies.map { hot.body(name($0)) != nil }
        #expect(kept == [false, true, true])
        hot.yield(name(bodies[1]))
        hot.unpin(name(bodies[1]))
        hot.keep(bodies[0], as: name(bodies[0]))
        #expect(hot.body(name(bodies[1])) == nil)
    }

    @Test func `a body larger than the budget is not kept`() {
        var hot = HotBodies(bytesMax: 500)
        let large = sampleBody(1)
        hot.keep(large, as: name(large))
        #expect(hot.count == 0)
        #expect(hot.bytes == 0)
    }

    @Test func `pinned bodies are given up in order of use`() {
        var hot = HotBodies(bytesMax: 100_000)
        let bodies = (0..<4).map { sampleBody($0) }
        for body in bodies { hot.pin(body, as: name(body)) }
        _ = hot.body(name(bodies[0]))
        #expect(hot.pinnedBeyond(size(bodies[3]) + size(bodies[0])) == [name(bodies[1]), name(bodies[2])])
        #expect(hot.pinnedBeyond(100_000).isEmpty)
    }

    @Test func `what the index takes is the loss of the bodies, down to a quarter`() {
        let bodies = (0..<4).map { sampleBody($0) }
        let bytes = bodies.reduce(0) { max($0, size($1)) }
        var hot = HotBodies(bytesMax: 8 * bytes)
        for body in bodies { hot.keep(body, as: name(body)) }
        #expect(hot.count == 4)
        hot.makeRoom(forIndex: 5 * bytes)
        #expect(hot.count == 3)
        hot.makeRoom(forIndex: 100 * bytes)
        #expect(hot.bytesMax == 2 * bytes && hot.count == 2)
        let isTooMuch = hot.reserve(2 * bytes + 1)
        #expect(!isTooMuch)
        hot.makeRoom(forIndex: 0)
        let fits = hot.reserve(7 * bytes)
        #expect(fits)
    }

    @Test func `a thousand random steps keep the sums right`() {
        var hot = HotBodies(bytesMax: 20_000)
        let bodies = (0..<40).map { sampleBody($0, count: 100 + $0 * 37) }
        var pins: [Int: Int] = [:]
        let randomSeed = UInt64.random(in: 0...UInt64.max)
        print("StoreHotBodiesTests seed \(randomSeed)")
        var random = SplitMix(seed: randomSeed)
        for _ in 0..<1000 {
            let choice = Int.random(in: 0..<40, using: &random)
            let body = bodies[choice]
            switch Int.random(in: 0..<4, using: &random) {
            case 0: hot.keep(body, as: name(body))
            case 1 where pins.count < 5:
                hot.pin(body, as: name(body))
                pins[choice, default: 0] += 1
            case 2:
                hot.unpin(name(body))
                if let count = pins[choice] { pins[choice] = count == 1 ? nil : count - 1 }
            default: _ = hot.body(name(body))
            }
            let kept = bodies.filter { hot.body(name($0)) != nil }
            #expect(hot.bytes == kept.reduce(0) { $0 + $1.bytes.capacity + 256 })
            #expect(hot.count == kept.count)
            #expect(hot.pinnedBytes == pins.keys.reduce(0) { $0 + bodies[$1].bytes.capacity + 256 })
            #expect(hot.bytes <= 20_000)
        }
    }

    @Test func `a base in memory counts once, from the first body that is packed over it to the last`() {
        var packs = PackedBodies()
        let (base, bodies) = (sampleBody(0, count: 5_000), (1...2).map { sampleBody($0) })
        let packed = bodies.map {
            PackedBody(
                frame: [1, 2, 3], base: PackingBase(row: 7, body: base), count: $0.count, digest: $0.digest)
        }
        var sizes: [Int] = []
        for (body, packed) in zip(bodies, packed) {
            packs.keep(packed, as: name(body))
            sizes.append(packs.bytes)
        }
        #expect(sizes[0] > 5_000 && sizes[1] - sizes[0] < 5_000)
        packs.remove(name(bodies[0]))
        #expect(packs.bytes == sizes[0])
        packs.remove(name(bodies[1]))
        #expect(packs.bytes == 0)
    }

    @Test func `packed bodies take half of the memory at most, and what is pinned goes first`() {
        var hot = HotBodies(bytesMax: 40_000)
        func keepPacked() {
            for number in 0..<100 {
                let body = sampleBody(number)
                hot.keep(
                    PackedBody(
                        frame: [UInt8](repeating: 1, count: 1000), base: nil, count: body.count,
                        digest: body.digest),
                    as: name(body))
                #expect(hot.packedBytes <= 20_000 && hot.bytes + hot.packedBytes <= 40_000)
            }
        }
        keepPacked()
        #expect(hot.packedBytes > 10_000)
        let large = sampleBody(1000, count: 35_000)
        hot.pin(large, as: name(large))
        #expect(hot.packedBytes <= 40_000 - size(large))
        keepPacked()
    }
}
