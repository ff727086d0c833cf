package import Dictionaries

/// The samples that a dictionary is made of, and those that judge it: it has not seen them.
package struct SampleSplit: Sendable {
    package let training: [TrainingSample]
    package let heldOut: [Body]

    private static let countMin = 4
    /// The least number of samples, and of resources whose responses are not divided.
    package static let samplesMin = 2 * countMin

    /// Halves the samples; nil if they are too few.
    ///
    /// All responses of a resource go into one half, since a version says too much about the next. With few resources, the
    /// older responses of each are trained on, and the newer ones held out.
    ///
    /// - Parameter samples: The samples, those of each resource in the order of time.
    package init?(_ samples: [TrainingSample]) {
        let resources = Dictionary(grouping: samples, by: \.resource)
        guard resources.count >= Self.samplesMin else {
            guard samples.count >= Self.samplesMin else { return nil }
            (training, heldOut) = Self.byAge(samples, resources)
            return
        }
        // By a hash: neighbours often resemble each other, and the choice is the same in each run.
        let names = resources.keys.sorted {
            (Digest(of: $0.utf8.span).part, $0) < (Digest(of: $1.utf8.span).part, $1)
        }
        var halves: (training: [TrainingSample], heldOut: [Body]) = ([], [])
        for (place, name) in names.enumerated() {
            let samples = resources[name] ?? []
            if place % 2 == 0 { halves.training += samples } else { halves.heldOut += samples.map(\.body) }
        }
        (training, heldOut) = halves
    }

    /// Divides the samples of each resource; the middle ones of odd numbers go into either half by turns.
    private static func byAge(
        _ samples: [TrainingSample], _ resources: [String: [TrainingSample]]
    ) -> (training: [TrainingSample], heldOut: [Body]) {
        var halves: (training: [TrainingSample], heldOut: [Body]) = ([], [])
        var roundsUp = false
        var seen: Set<String> = []
        for name in samples.map(\.resource) where seen.insert(name).inserted {
            let own = resources[name] ?? []
            let older = (own.count + (roundsUp ? 1 : 0)) / 2
            if own.count % 2 == 1 { roundsUp.toggle() }
            halves.training += own.prefix(older)
            halves.heldOut += own.dropFirst(older).map(\.body)
        }
        return halves
    }
}
