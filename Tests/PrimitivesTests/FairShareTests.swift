internal import Testing

@testable import Primitives

struct FairShareTests {
    @Test(arguments: [
        (1, 0, 1, 1, true), (1, 0, 0, 1, false), (1, 5, 6, 1, true), (1, 6, 6, 1, false), (3, 2, 5, 1, true),
        (4, 2, 5, 1, false), (1, 0, 1, 8, true), (1, 0, 9, 8, true), (1, 1, 9, 8, true), (1, 1, 8, 8, false),
        (8, 0, 64, 8, true), (9, 0, 64, 8, false), (8, 0, 7, 1, false),
    ])
    func `nobody has more than the part of what is left`(
        amount: Int, own: Int, free: Int, part: Int, isPermitted: Bool
    ) {
        #expect(FairShare.permits(amount, having: own, free: free, part: part) == isPermitted)
    }

    @Test func `an estimate that means never is never permitted`() {
        #expect(!FairShare.permits(.max, having: 1, free: .max - 1))
        #expect(!FairShare.permits(1, having: .max, free: 5))
        #expect(!FairShare.permits(1, having: 0, free: -5))
    }

    @Test(arguments: [(1, 8), (12, 8), (30, 8), (6, 1)])
    func `however many take all they can in turn, the next one finds something`(clients: Int, part: Int) {
        let all = 1000
        var taken = 0
        for _ in 0..<clients {
            var own = 0
            while FairShare.permits(1, having: own, free: all - taken, part: part) {
                own += 1
                taken += 1
            }
            #expect(own <= all / (part + 1) + 1)
        }
        #expect(FairShare.permits(1, having: 0, free: all - taken, part: part))
    }
}
