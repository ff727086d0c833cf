internal import Primitives

/// A reply of Redis, in a form that RESP2 and RESP3 share.
///
/// Sets are arrays, and maps are arrays of keys and values in turn, as RESP2 sends them. Doubles, big numbers and
/// verbatim texts are their bytes, and booleans are 0 and 1.
package enum RESPValue: Sendable, Equatable {
    case null
    case integer(Int64)
    /// A simple string, such as `OK`.
    case status([UInt8])
    case bytes([UInt8])
    case array([RESPValue])
    case error(RedisErrorReply)

    /// The bytes of a string of either kind; nil for other values.
    package var bytes: [UInt8]? {
        switch self {
        case .bytes(let bytes), .status(let bytes): bytes
        default: nil
        }
    }

    /// The text of a string of either kind; nil for other values.
    package var text: String? { bytes.map { String($0.span) } }

    package var integer: Int64? {
        if case .integer(let number) = self { number } else { nil }
    }

    package var array: [RESPValue]? {
        if case .array(let items) = self { items } else { nil }
    }

    package var error: RedisErrorReply? {
        if case .error(let error) = self { error } else { nil }
    }

    package var isOK: Bool { self == .status(Array("OK".utf8)) }
}

extension [RESPValue] {
    /// The values two by two, as keys and values stand in turn; an odd one at the end is left out.
    package var pairs: [(RESPValue, RESPValue)] {
        stride(from: 0, to: count - 1, by: 2).map { (self[$0], self[$0 + 1]) }
    }
}

/// An error reply: a code such as `OOM`, and a sentence for people.
package struct RedisErrorReply: Error, Sendable, Equatable {
    /// The first word, in capitals; `ERR` if the server sends none.
    package let code: String
    package let message: String

    /// The error in place of a string that is larger than `RESPLimits.stringBytes`; no server sends it.
    static func tooLarge(bytes: Int) -> RedisErrorReply {
        RedisErrorReply(code: "TOOLARGE", message: "a value of \(bytes) bytes, more than Dictum writes")
    }

    /// True if a key has what Dictum never writes: another type, or a string that is too large.
    package var isForeignValue: Bool { code == "WRONGTYPE" || code == "TOOLARGE" }

    /// True for a command about a key that does not exist, which is no fault.
    package var isMissingKey: Bool { code == "ERR" && message.hasSuffix("no such key") }
}
