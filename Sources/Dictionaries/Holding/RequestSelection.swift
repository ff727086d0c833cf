internal import Primitives

/// The request fields on which a response depends (RFC 9111 section 4.1): those that its Vary names, and those that may be
/// credentials, since the app may have another user by now; pure.
package enum RequestSelection {
    /// Returns a digest of the fields and their values.
    ///
    /// - Parameter sent: The names of the request's own fields.
    /// - Parameter value: Returns the value of a field of the request; nil without one.
    package static func digest(
        vary lines: [String], sent: some Sequence<String>, value: (String) -> String?
    ) -> String {
        let own = sent.filter { !NeutralFields.have($0) }.map { $0.lowercased() }
        let names = Set(Vary.names(lines) + own).subtracting(ofDictionaries)
        let selected = names.sorted().map { name in name + (value(name).map { ": " + $0 } ?? "") }
        return Digest(of: Array(selected.joined(separator: "\n").utf8).span).hex
    }

    /// The fields that a client sets by itself, and on which no decoded body depends.
    private static let ofDictionaries: Set = ["accept-encoding", "available-dictionary", "dictionary-id"]
}
