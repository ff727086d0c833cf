internal import ArgumentParser
internal import Proxy
internal import Storage

/// The options that choose versions: `purge` and `store` know the same ones.
struct ConditionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Only versions of this host; without a port, of all ports.", valueName: "host"))
    var host: String?

    @Option(
        help: ArgumentHelp(
            "Only versions of this path, whatever the query, and those that clients may use as dictionaries there.",
            valueName: "path"))
    var path: String?

    @Option(
        help: ArgumentHelp("Only versions of this route, as check and the log write it.", valueName: "route"))
    var route: String?

    var given: [(condition: PurgeOrder.Condition, value: String)] {
        [(.host, host), (.path, path), (.route, route)].compactMap { condition, value in
            value.map { (condition, $0) }
        }
    }

    /// The conditions, for error texts.
    var text: String { given.map { "the \($0.condition.rawValue) \($0.value)" }.joined(separator: " and ") }

    func validate() throws { _ = try order() }

    /// Throws if versions that are to be removed belong to several hosts, and none is chosen.
    func requireOneHost(_ authorities: [String]) throws {
        let hosts = Set(authorities).sorted()
        guard host == nil, hosts.count > 1 else { return }
        throw CommandError(
            "versions of \(hosts.count) hosts have \(text); choose one with --host: "
                + hosts.prefix(8).joined(separator: ", ") + (hosts.count > 8 ? ", …" : ""))
    }

    private func order() throws -> PurgeOrder {
        var order = PurgeOrder()
        for (condition, value) in given {
            do throws(PurgeOrder.ConditionError) {
                try order.add(condition, value)
            } catch {
                throw ValidationError("--\(condition.rawValue) \(value): the value \(error.expectation)")
            }
        }
        return order
    }

    /// Returns what a purge with these conditions includes, by the routes of a configuration.
    func purge(_ configuration: Configuration?) throws -> Purge {
        let routes = configuration.map { RouteTable($0) }
        if let route, routes?.has(route) != true {
            throw CommandError(
                routes == nil
                    ? "--route needs --config FILE, which has the routes"
                    : "the configuration has no route \(route); `dictum check` lists all")
        }
        return Purge(try order(), routes: routes)
    }
}
