/// A failure to code or decode a body; nothing more from the same stream can be trusted.
package struct CodingError: Error, Hashable, Sendable {
    /// The stage of a stream's life at which it failed.
    package enum Stage: String, Sendable {
        /// The codec could not be made: no memory, or options that do not fit together.
        case setup
        /// The header of the coding is missing or names another dictionary (RFC 9842 sections 4 and 5).
        case header
        /// The library failed to code.
        case encode
        /// The coded bytes do not decode to the body.
        case verify
        /// The library failed to decode.
        case decode
        /// The decoded body would be larger than the limits allow.
        case limit
        /// The stream is cut short, or goes on after its end.
        case end
    }

    package let coding: ContentCoding
    package let stage: Stage
    /// The cause, in the library's words if it has any.
    package let message: String

    package init(_ coding: ContentCoding, _ stage: Stage, _ message: String) {
        self.coding = coding
        self.stage = stage
        self.message = message
    }
}

extension CodingError: CustomStringConvertible {
    /// The failure as one line for a log.
    package var description: String { "\(coding.token) \(stage.rawValue): \(message)" }
}
