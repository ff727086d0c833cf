internal import Dictionaries
internal import HTTP
internal import Storage

// MARK: - Clients without dictionaries, and what monitoring is told

extension Exchange {
    /// Finds the client's place in the experiment, if the client is known and might get dictionaries.
    func joinExperiment(_ experiment: ExperimentTotals) {
        guard route.usesDictionaries, switchedOff(on: route) == nil, let keys = context.store.keys else {
            return
        }
        var number: UInt64?
        if experiment.settings.unit == .client, case .private(let tag)? = resource.userScope {
            number = keys.clientNumber(of: tag)
        } else if let address = knownAddress {
            number = keys.clientNumber(of: (0..<16).map { UInt8(truncatingIfNeeded: address >> (8 * $0)) })
        }
        guard let number else { return }
        record.experiment = ExperimentPlace(number: number, holdout: experiment.settings.holdout)
    }

    /// The client's address; nil if a trusted peer forwards for a client that it does not name.
    private var knownAddress: UInt128? {
        let client = linkClient
        let isUnknown = peer.isTrusted && !client.isNamed && request.headers.isForwarded
        return isUnknown ? nil : client.address
    }

    var holdoutReason: Reason? { record.experiment.arm == .heldOut ? .heldOut : nil }

    /// Adds `Server-Timing` to a response; the upstream's own stays.
    ///
    /// A 304 gets none, since its fields would replace those of a response that a cache keeps.
    func addServerTiming(to head: inout ResponseHead) {
        guard head.status != .notModified else { return }
        var metrics = isTwinDue ? ["dictum-renew"] : []
        if isTimingDue {
            let reason = record.reason.map { " \($0.text)" } ?? ""
            metrics.append(
                "dictum;desc=\"\(record.coding.token)\(reason)\";dur=\(Self.milliseconds(record.headMicroseconds))"
            )
            if let upstream = record.upstreamMicroseconds {
                metrics.append("dictum-upstream;dur=\(Self.milliseconds(upstream))")
            }
        }
        if let arm = record.experiment.arm { metrics.append("dictum-arm;desc=\"\(arm.rawValue)\"") }
        if !metrics.isEmpty { head.headers.append(.serverTiming, metrics.joined(separator: ", ")) }
    }

    private var isTimingDue: Bool {
        guard let settings = context.configuration.serverTiming else { return false }
        return settings.trusted && peer.isTrusted
            || settings.sample > 0 && Double.random(in: 0..<1) < settings.sample
    }

    /// Returns milliseconds with three decimal places.
    private static func milliseconds(_ microseconds: Int) -> String {
        let fraction = String(microseconds % 1000 + 1000).dropFirst()
        return "\(microseconds / 1000).\(fraction)"
    }
}
