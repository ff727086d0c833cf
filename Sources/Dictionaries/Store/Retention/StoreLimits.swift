/// The limits of an index, as shares of the store's settings.
struct StoreLimits: Sendable {
    let chains: Int
    /// The share of chains in probation: a fifth.
    let chainsInProbation: Int
    /// The share of chains and bytes for unproven authorities: a twentieth.
    let unprovenChains: Int
    let unprovenBytes: Int
    /// The share of bytes for versions of chains in probation: a fifth.
    let bytesInProbation: Int

    /// Divides the settings; by default there are no limits.
    init(chains: Int = .max, bytes: Int = .max) {
        self.chains = max(chains, 1)
        chainsInProbation = chains / 5
        unprovenChains = max(1, chains / 20)
        unprovenBytes = bytes / 20
        bytesInProbation = bytes / 5
    }
}
