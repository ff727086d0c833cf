internal import Dictionaries

/// Removes the values of personal query parameters from logged request targets.
struct TargetRedaction: Sendable {
    private let policy: PersonalPolicy

    init(_ policy: PersonalPolicy) {
        self.policy = policy
    }

    /// Returns the target with `-` for each personal value: `/a?token=s3cret&b=1` becomes `/a?token=-&b=1`.
    func redact(_ target: [UInt8]) -> [UInt8] {
        guard let mark = target.firstIndex(of: UInt8(ascii: "?")) else { return target }
        let query = target[(mark + 1)...]
        guard isPersonal(query) else { return target }
        let parameters = query.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        return Array(target[...mark]) + parameters.map(redact).joined(separator: [UInt8(ascii: "&")])
    }

    /// Returns the target with `-` for its query: `/a?b=1` becomes `/a?-`.
    func redactQuery(_ target: [UInt8]) -> [UInt8] {
        guard let mark = target.firstIndex(of: UInt8(ascii: "?")) else { return target }
        return target[...mark] + [UInt8(ascii: "-")]
    }

    /// Returns the parameter up to its first personal name.
    ///
    /// The rest is dropped: where `;` is no separator, it belongs to the value.
    private func redact(_ parameter: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var start = parameter.startIndex
        for piece in parameter.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false) {
            start = piece.startIndex
            guard isPersonal(piece) else { continue }
            let name = piece.prefix { $0 != UInt8(ascii: "=") }
            return parameter[..<start] + name
                + (name.count < piece.count ? [UInt8(ascii: "="), UInt8(ascii: "-")] : [])
        }
        return parameter
    }

    private func isPersonal(_ query: ArraySlice<UInt8>) -> Bool {
        policy.hasPersonalQuery(String(decoding: query, as: UTF8.self))
    }
}
