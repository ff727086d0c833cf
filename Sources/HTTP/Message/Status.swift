/// A status code (RFC 9110 section 15); a received one is always 100 to 599.
package struct Status: RawRepresentable, Hashable, Comparable, Sendable {
    package let rawValue: UInt16

    /// Wraps a code.
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Orders by code.
    package static func < (left: Status, right: Status) -> Bool { left.rawValue < right.rawValue }

    /// Tells a 1xx answer, after which the final one follows.
    package var isInformational: Bool { rawValue / 100 == 1 }

    /// Tells a 2xx answer.
    package var isSuccessful: Bool { rawValue / 100 == 2 }

    /// Tells a 4xx or 5xx answer.
    package var isError: Bool { rawValue >= 400 }

    /// Tells an answer that never has a body: 1xx, 204 and 304 (RFC 9112 section 6.3).
    package var isBodiless: Bool { isInformational || self == .noContent || self == .notModified }
}
