/// What a route says about the versions that its answers make.
package struct AdmissionPolicy: Sendable, Equatable {
    /// How many versions a chain keeps.
    package var versions: Int
    /// Seconds that a version is kept after it was last wanted.
    package var maxAge: Int
    /// Whether new chains are in probation, as those of the implied route are: within a share of the store, and the
    /// first to go, until somebody asks for them again.
    package var startsInProbation: Bool
    /// The network of the client that a private version is for, by a number that others may share; nil: any.
    package var network: UInt16?

    /// Describes a route; the defaults are the contract's for one that is written.
    package init(
        versions: Int = 16, maxAge: Int = 30 * 86_400, startsInProbation: Bool = false, network: UInt16? = nil
    ) {
        self.versions = versions
        self.maxAge = maxAge
        self.startsInProbation = startsInProbation
        self.network = network
    }
}
