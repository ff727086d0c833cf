internal import Redis
internal import Storage

extension StoreStatistics: MetricSource {
    static var readings: [MetricReading<StoreStatistics>] {
        [
            .one("dictum_store_versions", kind: .gauge, "Versions in the store.") { $0.versions },
            .one("dictum_store_chains", kind: .gauge, "Chains in the store.") { $0.chains },
            .one(
                "dictum_store_probation_chains", kind: .gauge,
                "Chains that were requested only once; they share a fifth of the store."
            ) { $0.chainsInProbation },
            .each(
                "dictum_store_bytes", kind: .gauge, by: "place",
                "Bytes of the store: bodies and packed bodies in memory, the index, and the database on disk."
            ) {
                [
                    ("memory", $0.memoryBytes), ("packed", $0.packedBytes), ("index", $0.indexBytes),
                    ("disk", $0.diskBytes),
                ]
            },
            .each(
                "dictum_store_body_bytes_total", by: "form",
                "Bytes of the bodies written, before and after packing."
            ) { [("whole", $0.bodyBytesWritten), ("stored", $0.bodyBytesStored)] },
            .each(
                "dictum_store_evictions_total", by: "reason", "Versions that left the store, by the reason."
            ) { statistics in Eviction.allCases.map { ($0.rawValue, statistics.evictions[$0] ?? 0) } },
            .one("dictum_store_write_errors_total", "Transactions that the disk refused.") { $0.writeErrors },
            .one("dictum_store_set_asides_total", "Databases that were damaged and set aside.") {
                $0.setAsides
            },
            .each(
                "dictum_admission_refusals_total", by: "reason",
                "Bodies that the store refused; their responses carry no offer, unless it was sent before."
            ) { statistics in AdmissionRefusal.allCases.map { ($0.rawValue, statistics.refusals[$0] ?? 0) } },
            .each(
                "dictum_advertised_dictionaries_total", by: "result",
                "Dictionaries that clients advertised, by whether the store had them."
            ) { [("found", $0.advertisedFound), ("unknown", $0.advertisedUnknown)] },
            .each(
                "dictum_store_versions_by_holders", kind: .gauge, by: "holders",
                "Versions by the knowledge about the clients that hold them."
            ) { $0.standings.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } },
        ]
    }
}

extension DeltaStatistics: MetricSource {
    static var readings: [MetricReading<DeltaStatistics>] {
        [
            .each(
                "dictum_delta_cache_lookups_total", by: "result",
                "Lookups in the delta cache: hits, deltas that another request was making, and misses."
            ) { [("hit", $0.cache.hits), ("shared", $0.cache.shared), ("miss", $0.cache.misses)] },
            .one("dictum_delta_cache_bytes", kind: .gauge, "Bytes of the cached deltas.") { $0.cache.bytes },
            .one("dictum_delta_cache_evictions_total", "Deltas evicted to make room.") { $0.cache.evictions },
            .each(
                "dictum_prepared_dictionary_uses_total", by: "result",
                "Uses of dictionaries: already indexed, indexed by another request, indexed first, or by reference."
            ) {
                [
                    ("hit", $0.prepared.hits), ("shared", $0.prepared.shared),
                    ("indexed", $0.prepared.indexed), ("reference", $0.prepared.references),
                ]
            },
            .one(
                "dictum_prepared_dictionary_bytes", kind: .gauge,
                "Bytes of indexed dictionaries and their indexes."
            ) { $0.prepared.bytes },
            .one(
                "dictum_prepared_dictionary_evictions_total", "Indexed dictionaries evicted to make room."
            ) { $0.prepared.evictions },
            .one("dictum_verify_checks_total", "Deltas that were decoded again and compared.") { $0.checks },
            .one(
                "dictum_verify_failures_total",
                "Deltas that did not decode to their body; each turns dictionaries off for its route."
            ) { $0.failures },
            .each(
                "dictum_strongest_passes_total", by: "result",
                "Deltas coded again at the strongest setting, by result."
            ) { statistics in StrongestPass.End.allCases.map { ($0.rawValue, statistics.passes[$0] ?? 0) } },
        ]
    }
}

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
