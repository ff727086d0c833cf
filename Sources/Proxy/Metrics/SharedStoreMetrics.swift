internal import Redis

extension RedisStatistics: MetricSource {
    static var readings: [MetricReading<RedisStatistics>] {
        [
            .each(
                "dictum_shared_store_state", kind: .gauge, by: "state",
                "1 for the state of the shared store's circuit breaker: closed while requests use the server."
            ) { statistics in
                CircuitBreaker.State.allCases.map { ($0.rawValue, $0 == statistics.breaker ? 1 : 0) }
            },
            .each(
                "dictum_shared_store_commands_total", by: "result", "Commands to the shared store, by result."
            ) { statistics in
                results.map { ($0, statistics.commands[$0] ?? 0) }
            },
            .each(
                "dictum_shared_store_errors_total", by: "code",
                "Error replies of the shared store, by the server's code."
            ) { statistics in
                (errorCodes + ["other"]).map { ($0, statistics.errors[$0] ?? 0) }
            },
            .each(
                "dictum_shared_store_bytes_total", by: "direction",
                "Bytes to and from the shared store, before TLS."
            ) { [("sent", $0.bytesSent), ("received", $0.bytesReceived)] },
            .one("dictum_shared_store_connections_total", "Connections made to the shared store.") {
                $0.connections
            },
            .one("dictum_shared_store_outages_total", "Changes of the shared store from available to not.") {
                $0.outages
            },
            .one(
                "dictum_shared_store_deadline_seconds", kind: .gauge, divisor: 1_000,
                "The time that a response waits for the shared store now, by measured latency."
            ) { $0.deadline },
        ]
    }
}

/// The times of replies to commands that requests wait for.
enum SharedStoreLatency {
    static let metric = Metric(
        name: "dictum_shared_store_reply_seconds", kind: .histogram, labels: [],
        help: "Time from a command that a request waits for to its last reply, late ones included.")

    static func samples(_ latency: LatencyHistogram) -> [MetricSample] {
        MetricSample.histogram(
            metric, [], latency.counts, bounds: LatencyHistogram.bounds,
            sumMicroseconds: latency.sumMicroseconds)
    }
}
