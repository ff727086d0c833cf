/// The decision on how a response goes to the client.
package struct Decision: Equatable, Sendable {
    /// The treatment of the upstream's own coding.
    package enum UpstreamHandling: Equatable, Sendable {
        /// The upstream did not code the response.
        case none
        /// The upstream's bytes are forwarded unchanged.
        case passThrough
        /// The upstream's bytes are decoded first.
        case decode
    }

    /// The coding that the client gets; with `passThrough` the upstream's own, or identity if Dictum does not
    /// implement it.
    package let coding: ContentCoding
    /// The reason why no dictionary was used, or `delta`.
    package let reason: Reason
    /// The treatment of the upstream's own coding.
    package let upstreamCodingHandling: UpstreamHandling

    package init(coding: ContentCoding, reason: Reason, upstreamCodingHandling: UpstreamHandling = .none) {
        self.coding = coding
        self.reason = reason
        self.upstreamCodingHandling = upstreamCodingHandling
    }
}
