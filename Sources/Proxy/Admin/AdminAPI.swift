internal import Foundation
internal import HTTP
internal import Primitives
internal import Storage

/// The responses of the JSON API; `deploy/ADMIN.md` describes them.
///
/// Most ask all loops or visit all chains, so they run on a queue and never on a loop.
struct AdminAPI: Sendable {
    let status: AdminStatus

    /// Returns the response to a read of a resource, or to a purge; blocks.
    func response(_ resource: AdminResource, _ request: AdminRequest) throws(AdminRefusal) -> AdminResponse {
        switch resource {
        case .metrics:
            AdminResponse(
                .ok, MetricSample.text(status.snapshot().samples), contentType: MetricSample.contentType)
        case .status: .json(StatusReport(status, status.snapshot()))
        case .routes: .json(RouteReports(status.snapshot()))
        case .history: .json(["points": status.history.points])
        case .chains: chains(try ChainQuery(request.query))
        case .report: .json(status.report())
        case .configuration: configuration(asYAML: request.prefersYAML)
        case .logLevel: logLevel
        case .dictionaries, .dictionariesOn, .dictionariesOff: dictionaries
        case .purge: .json(try PurgeRequest(request.query).carryOut(in: status.context))
        case .page, .health, .readiness: throw AdminRefusal(.notFound, AdminResource.listed)
        }
    }

    private func chains(_ query: ChainQuery) -> AdminResponse {
        let now = SystemClock.unixSeconds
        let listing = ChainListing(
            of: status.context.store, by: query.order, offset: query.offset, limit: query.limit)
        return .json(ChainReports(listing, query, now: now))
    }

    private func configuration(asYAML: Bool) -> AdminResponse {
        struct Report: Encodable {
            let configuration: ConfigurationNode?
            let redacted: [String]
        }
        let effective = EffectiveConfiguration(status.context.configuration)
        guard !asYAML else { return AdminResponse(.ok, effective.yaml, contentType: "application/yaml") }
        return .json(Report(configuration: effective.node, redacted: effective.redacted))
    }

    // MARK: Changes

    func change(_ resource: AdminResource, body: [UInt8]) throws(AdminRefusal) -> AdminResponse {
        if resource == .logLevel { return try setLogLevel(body) }
        let isOff = resource == .dictionariesOff
        guard isOff || status.areDictionariesConfigured else {
            throw AdminRefusal(
                .conflict, "The configuration says dictionaries: off; change it and reload (SIGHUP).")
        }
        status.switchDictionaries(off: isOff)
        return dictionaries
    }

    /// The state of the switch and of the configuration.
    private var dictionaries: AdminResponse {
        .json([
            "dictionaries": status.areDictionariesOn ? "on" : "off",
            "configured": status.areDictionariesConfigured ? "on" : "off",
        ])
    }

    private func setLogLevel(_ body: [UInt8]) throws(AdminRefusal) -> AdminResponse {
        struct Change: Decodable {
            let level: String
        }
        let levels = LogLevel.allCases.map(\.rawValue).listed
        guard let change = try? JSONDecoder().decode(Change.self, from: Data(body)),
            let level = LogLevel(rawValue: change.level)
        else { throw AdminRefusal(.badRequest, "Expected the member level with one of \(levels).") }
        status.logLevel = level
        return logLevel
    }

    private var logLevel: AdminResponse {
        let configured = status.context.configuration.log.level.rawValue
        return .json(["level": status.logLevel.rawValue, "configured": configured])
    }
}

/// The parts of a request that a response depends on.
struct AdminRequest: Sendable {
    let query: String?
    let accept: String?

    init(_ head: RequestHead) {
        query = head.target.query
        accept = head.headers.joined(.accept)
    }

    /// Returns what is made, or the refusal in the media type that the client accepts.
    func response(_ make: () throws(AdminRefusal) -> AdminResponse) -> AdminResponse {
        do throws(AdminRefusal) {
            return try make()
        } catch {
            return AdminResponse(error, accept: accept)
        }
    }

    /// True if the client names YAML and not JSON.
    var prefersYAML: Bool {
        guard let accept = accept?.lowercased() else { return false }
        return accept.contains("yaml") && !accept.contains("json")
    }
}

extension AdminResponse {
    /// Makes a JSON response; its keys are written in snake case.
    static func json(_ value: some Encodable) -> AdminResponse {
        // No share divides by zero.
        guard let text = JSONEncoder.line(value) else {
            return AdminResponse(.serviceUnavailable, "The report cannot be made.")
        }
        return AdminResponse(.ok, text + "\n", contentType: "application/json")
    }
}
