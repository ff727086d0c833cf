/// How much an index may hold; shares of the store's settings.
struct StoreLimits: Sendable {
    let chains: Int
    /// The part of them for chains in probation: a fifth.
    let chainsInProbation: Int
    /// The part of chains and bytes for authorities to which no client has come back: a twentieth.
    let unprovenChains: Int
    let unprovenBytes: Int
    /// What the versions of chains in probation may take on disk together: a fifth.
    let bytesInProbation: Int

    /// Divides the settings; without them there are no limits.
    init(chains: Int = .max, bytes: Int = .max) {
        self.chains = max(chains, 1)
        chainsInProbation = chains / 5
        unprovenChains = max(1, chains / 20)
        unprovenBytes = bytes / 20
        bytesInProbation = bytes / 5
    }
}
