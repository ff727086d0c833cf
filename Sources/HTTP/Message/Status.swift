/// A status code (RFC 9110 section 15); a received one is always 100 to 599.
package struct Status: RawRepresentable, Hashable, Comparable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static func < (left: Status, right: Status) -> Bool { left.rawValue < right.rawValue }

    /// True for 1xx: the final response follows.
    package var isInformational: Bool { rawValue / 100 == 1 }

    package var isSuccessful: Bool { rawValue / 100 == 2 }

    package var isError: Bool { rawValue >= 400 }

    /// True if the response never has a body: 1xx, 204 and 304 (RFC 9112 section 6.3).
    package var isBodiless: Bool { isInformational || self == .noContent || self == .notModified }
}
