/// The settings of a route that its responses' versions are admitted by.
package struct AdmissionPolicy: Sendable, Equatable {
    /// The upper bound of versions per chain.
    package var versions: Int
    /// The seconds that a version is kept after it was last wanted.
    package var maxAge: Int
    /// True if new chains start in probation, as those of the implied route do: within a share of the store,
    /// and evicted first, until another request asks for them.
    package var startsInProbation: Bool
    /// The number of the client network that a private version is for; networks may share one.
    ///
    /// Nil stands for any network.
    package var network: UInt16?

    /// Makes a policy; the defaults are those of a route in the configuration.
    package init(
        versions: Int = 16, maxAge: Int = 30 * 86_400, startsInProbation: Bool = false, network: UInt16? = nil
    ) {
        self.versions = versions
        self.maxAge = maxAge
        self.startsInProbation = startsInProbation
        self.network = network
    }
}
