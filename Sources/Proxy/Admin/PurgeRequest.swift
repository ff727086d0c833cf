internal import Foundation
internal import HTTP
internal import Storage

/// The query of `/purge`: what to remove, and whether to remove it.
struct PurgeRequest: Sendable, Equatable {
    var order = PurgeOrder()
    /// The items of the user's identity, by their text in the setting `identity`.
    var user: [String: String] = [:]
    var isDryRun = false

    private static let textMax = 1_024

    /// Reads the query of a URL.
    ///
    /// A second value of one condition would silently take the place of the first.
    init(_ query: String?) throws(AdminRefusal) {
        var names: Set<String> = []
        for parameter in (query ?? "").split(separator: "&") {
            let parts = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let value = String(parts[1]).removingPercentEncoding, !value.isEmpty,
                value.utf8.count <= Self.textMax
            else { throw Self.refusal("each parameter needs a value, of at most \(Self.textMax) bytes") }
            let name = String(parts[0])
            guard names.insert(name).inserted || name == "user" else {
                throw Self.refusal("\(name) is there twice; each may have one value")
            }
            try read(name, value)
        }
        guard order != PurgeOrder() || !user.isEmpty else {
            throw Self.refusal("give at least one of host, path, route and user")
        }
        guard user.isEmpty || order.host != nil else { throw Self.refusal("user needs host") }
    }

    private mutating func read(_ name: String, _ value: String) throws(AdminRefusal) {
        if let condition = PurgeOrder.Condition(rawValue: name) {
            do throws(PurgeOrder.ConditionError) {
                return try order.add(condition, value)
            } catch {
                throw Self.refusal("\(name) \(error.expectation)")
            }
        }
        switch name {
        case "user":
            let item = value.split(separator: "=", maxSplits: 1).map { String($0) }
            guard item.count == 2, let known = IdentityItem(item[0]) else {
                throw Self.refusal(
                    "user is ITEM=VALUE, such as cookie:session=abc or authorization=Bearer abc")
            }
            guard user.updateValue(item[1], forKey: known.text) == nil else {
                throw Self.refusal("\(known.text) is there twice; purge one user after the other")
            }
        case "dry_run":
            guard let flag = ["true": true, "false": false][value] else {
                throw Self.refusal("dry_run is true or false")
            }
            isDryRun = flag
        default: throw Self.refusal("the parameters are host, path, route, user and dry_run")
        }
    }

    private static func refusal(_ expectation: String) -> AdminRefusal {
        AdminRefusal(.badRequest, "Invalid purge: \(expectation).")
    }

    /// Removes what the request names, on this node and on those that share its store; blocks.
    func carryOut(in context: ProxyContext) throws(AdminRefusal) -> PurgeReport {
        var order = order
        if let route = order.route, !context.routes.has(route) {
            throw AdminRefusal(.badRequest, "There is no route \(route); /routes lists all.")
        }
        if !user.isEmpty {
            let owners = context.owners(user, authority: order.host ?? "")
            guard !owners.isEmpty else {
                throw AdminRefusal(
                    .badRequest,
                    """
                    No route with scope: private has an identity of these items, and no others. Personal responses of \
                    other routes are not kept by user: purge them by path or host.
                    """)
            }
            order.owners = Set(owners)
        }
        return context.purge(order, isDryRun: isDryRun)
    }
}
