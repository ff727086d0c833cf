/// The check that a delta is exact; a pure function.
package enum DeltaCheck {
    /// Returns true if a coded body decodes to exactly the body; O(count), most of it copying.
    package static func isExact(
        _ coded: [UInt8], _ coding: ContentCoding, dictionary: Body, body: [UInt8]
    ) -> Bool {
        var limits = DecoderLimits(maxBytes: body.count, maxRatio: .max)
        // In one step, since the decoder then needs no window of its own.
        limits.stepBytes = body.count + 1
        let decoded = try? Codec.decode(coded.span, coding, dictionary: dictionary, limits: limits)
        return decoded.map { ByteComparison.areEqual($0, body) } ?? false
    }
}

/// The outcome of making a delta.
package enum DeltaOutcome: Sendable, Equatable {
    /// The delta is made, and shorter than the body.
    case coded([UInt8])
    /// The delta would be no shorter than the body.
    case notShorter
    case failed(Failure)

    /// The reason why there is no delta.
    package enum Failure: Sendable, Equatable {
        /// The library failed.
        case coding
        /// The delta did not decode to the body.
        case inexact
        /// No encoder was free.
        case busy
    }
}
