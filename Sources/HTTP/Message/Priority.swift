internal import Primitives
internal import RawStructuredFieldValues

/// The parameters of a Priority field or of a PRIORITY_UPDATE frame (RFC 9218 section 4); nil for each that it lacks.
package struct Priority: Equatable, Sendable {
    /// 0 (first) to 7 (last).
    package var urgency: UInt8?
    /// True if the response is of use piece by piece, and shares the connection with others of its urgency.
    package var isIncremental: Bool?

    /// The urgency of a request that names none.
    package static let defaultUrgency: UInt8 = 3
    /// The maximum length of a field; a longer one counts as malformed.
    package static let fieldBytesMax = 256

    package init(urgency: UInt8? = nil, isIncremental: Bool? = nil) {
        self.urgency = urgency
        self.isIncremental = isIncremental
    }

    /// Reads a field's value.
    ///
    /// A malformed value has no parameters. Unknown parameters and those with invalid values are ignored (RFC 9218
    /// section 4).
    package init(parsing value: Span<UInt8>) {
        if let common = Self.common(value) {
            self = common
            return
        }
        guard value.count <= Self.fieldBytesMax else { return }
        var parser = StructuredFieldValueParser([UInt8](copying: value))
        guard let members = try? parser.parseDictionaryFieldValue() else { return }
        if case .item(let item)? = members["u"], case .integer(let number) = item.rfc9651BareItem,
            0...7 ~= number
        {
            urgency = UInt8(number)
        }
        if case .item(let item)? = members["i"], case .bool(let isOn) = item.rfc9651BareItem {
            isIncremental = isOn
        }
    }

    /// Reads the lines of a section; nil without any.
    package init?(_ headers: borrowing Headers) {
        guard headers.contains(.priority), let value = headers.joined(.priority) else { return nil }
        self.init(parsing: value.utf8.span)
    }

    /// Reads the forms that browsers send, without a parser.
    private static func common(_ value: Span<UInt8>) -> Priority? {
        if value.equals("i") { return Priority(isIncremental: true) }
        guard value.count >= 3, value[0] == UInt8(ascii: "u"), value[1] == UInt8(ascii: "="),
            0x30...0x37 ~= value[2]
        else { return nil }
        let urgency = value[2] - 0x30
        if value.count == 3 { return Priority(urgency: urgency) }
        let rest = value.extracting(3..<value.count)
        guard rest.equals(", i") || rest.equals(",i") else { return nil }
        return Priority(urgency: urgency, isIncremental: true)
    }

    /// Returns these parameters, and those of the other for each that is missing here (RFC 9218 section 8).
    package func merged(over other: Priority) -> Priority {
        Priority(urgency: urgency ?? other.urgency, isIncremental: isIncremental ?? other.isIncremental)
    }

    /// The field's value; empty without parameters.
    package var text: String {
        var members: [String] = []
        if let urgency { members.append("u=\(urgency)") }
        if let isIncremental { members.append(isIncremental ? "i" : "i=?0") }
        return members.joined(separator: ", ")
    }
}
