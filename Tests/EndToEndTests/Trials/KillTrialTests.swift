internal import Foundation
internal import Testing

/// The program is killed at random moments while clients poll a feed that changes, and started again on its store.
@Suite(.timeLimit(.minutes(40))) struct KillTrialTests {
    @Test func `what was offered 200 ms before a kill -9 is used after the restart, 50 times`() async throws {
        // The environment may set the seed of a failed run.
        let given = ProcessInfo.processInfo.environment["DICTUM_TRIAL_SEED"].flatMap { UInt64($0) }
        let seed = given ?? .random(in: 0...UInt64(UInt32.max))
        print("kill -9: DICTUM_TRIAL_SEED=\(seed)")
        let outcome = try await onOwnThread {
            var trial = try KillTrial(seed: seed)
            return try trial.run(kills: 50)
        }
        print(
            "kill -9: \(outcome.kills) times, \(outcome.advertised) dictionaries advertised after it, all used"
        )
        #expect(outcome.kills == 50)
        #expect(outcome.advertised > 50 * ChangingFeed.paths.count, "something was there to be lost")
    }
}
