internal import Dictionaries
internal import HTTP

// MARK: - What deltas save

extension Exchange {
    /// Has a delta that goes out compared with coding without a dictionary, if it is its turn.
    func sampleGain(of body: [UInt8], deltaBytes: Int) {
        guard let version = dictionary.version, context.gain.isTurn() else { return }
        let compression = context.configuration.compression
        // In a private chain URLs have other names.
        let isNamed = !version.chainKey.scope.isPrivate
        context.gain.submit(
            GainSampler.Sample(
                route: route.index == nil ? "none" : route.text, body: body, deltaBytes: deltaBytes,
                codings: compression.codings.filter {
                    !$0.usesDictionary && facts.acceptEncoding.quality(of: $0) > 0
                },
                isAcrossURLs: isNamed && !version.isFrom(storedURL)),
            levels: compression.levels)
    }

    /// What is known of the route's gain, for `Dictum-Explain`.
    var explainedGain: String {
        context.gain.total(of: route.text).map { ";route-gain=\($0.percent)%" } ?? ""
    }
}
