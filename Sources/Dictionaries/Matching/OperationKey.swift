internal import Primitives

/// The members that tell the operations of one URL apart: the setting `key` of a route.
///
/// They stand in the query, and then the `match` of an offer has them, or in a JSON body, and then they are a part of the
/// variant (`RequestOperation`).
package struct OperationKey: Equatable, Sendable {
    package static let membersMax = 8

    /// The names from the outermost object to each member's value; a query has the first name.
    package let paths: [[String]]

    /// Takes members that `path(of:)` accepts.
    package init(_ members: [String]) { paths = members.compactMap(Self.path) }

    /// Returns the names of a member such as `operationName` or `extensions.persistedQuery.sha256Hash`; nil if the
    /// text is none.
    package static func path(of member: String) -> [String]? {
        let names = member.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let isPath =
            names.count <= 8
            && names.allSatisfy { name in
                1...64 ~= name.utf8.count && name.utf8.allSatisfy { ASCII.isToken($0) }
            }
        return isPath ? names : nil
    }

    /// Returns the parts of a query that name its operation, such as `op=Feed`, in their order.
    func parts(of query: String?) -> [Substring] {
        guard let query, !paths.isEmpty else { return [] }
        return query.split(separator: "&").filter { part in
            guard let end = part.utf8.firstIndex(of: UInt8(ascii: "=")) else { return false }
            let bytes = part.utf8[..<end]
            let text = Array(bytes)
            let name = PercentEncoding.decoded(0..<text.count, in: text.span)
            return paths.contains { $0.first.map { name.elementsEqual($0.utf8) } == true }
        }
    }
}

/// The operation that the body of a request names: its members, as far as it has them.
package struct RequestOperation: Equatable, Sendable {
    /// The members with their values, in the order of the setting.
    package let members: [(name: String, value: String)]

    /// Takes what was read of a body; nil if it names no operation.
    package init?(_ key: OperationKey, _ values: [String?]?) {
        guard let values else { return nil }
        members = zip(key.paths, values).compactMap { path, value in
            value.map { (path.joined(separator: "."), $0) }
        }
        if members.isEmpty { return nil }
    }

    package static func == (one: RequestOperation, other: RequestOperation) -> Bool {
        one.members.elementsEqual(other.members) { $0 == $1 }
    }
}
