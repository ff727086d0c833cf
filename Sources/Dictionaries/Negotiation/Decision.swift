/// How an answer goes to the client.
package struct Decision: Equatable, Sendable {
    /// What happens to the upstream's own coding.
    package enum UpstreamHandling: Equatable, Sendable {
        /// There is none.
        case none
        /// The upstream's bytes go on untouched.
        case passThrough
        /// The upstream's bytes are decoded first.
        case decode
    }

    /// The coding that the client gets; with `passThrough` the upstream's own, identity where that is foreign.
    package let coding: ContentCoding
    /// Why no dictionary was used, or `delta`.
    package let reason: Reason
    /// What happens to the upstream's own coding.
    package let upstreamCodingHandling: UpstreamHandling

    /// A decision of these parts.
    package init(coding: ContentCoding, reason: Reason, upstreamCodingHandling: UpstreamHandling = .none) {
        self.coding = coding
        self.reason = reason
        self.upstreamCodingHandling = upstreamCodingHandling
    }
}
