/// Why a body could not be coded or decoded; nothing that follows from the same stream can be trusted.
package struct CodingError: Error, Hashable, Sendable {
    /// Where in the life of a stream it happened.
    package enum Stage: String, Sendable {
        /// The codec could not be made: memory, or options that do not fit together.
        case setup
        /// The coding's own header is missing or names another dictionary (RFC 9842 sections 4 and 5).
        case header
        /// While coding.
        case encode
        /// What was coded does not decode to what went in.
        case verify
        /// While decoding.
        case decode
        /// The decoded body would be larger than allowed.
        case limit
        /// The stream is cut short, or goes on after its end.
        case end
    }

    /// The coding that failed.
    package let coding: ContentCoding
    /// Where it failed.
    package let stage: Stage
    /// What went wrong, in the library's own words where it has any.
    package let message: String

    /// Names the coding, the stage and the cause.
    package init(_ coding: ContentCoding, _ stage: Stage, _ message: String) {
        self.coding = coding
        self.stage = stage
        self.message = message
    }
}

extension CodingError: CustomStringConvertible {
    /// One line for a log.
    package var description: String { "\(coding.token) \(stage.rawValue): \(message)" }
}
