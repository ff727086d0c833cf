package import Dictionaries

/// The samples that a dictionary is made of, and those that judge it: it has not seen them.
package struct SampleSplit: Sendable {
    package let training: [TrainingSample]
    package let heldOut: [Body]

    /// The least number of samples in each half.
    package static let countMin = 4

    /// Halves the samples; nil if they are too few.
    ///
    /// All responses of a resource go into one half, since a version says too much about the next. With few resources, the
    /// older responses of all are trained on, and the newer ones held out.
    package init?(_ samples: [TrainingSample]) {
        let resources = Dictionary(grouping: samples, by: \.resource)
        guard resources.count >= 2 * Self.countMin else {
            let older = samples.count / 2
            guard older >= Self.countMin else { return nil }
            (training, heldOut) = (Array(samples.prefix(older)), samples.dropFirst(older).map(\.body))
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
}
