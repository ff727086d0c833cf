/// The one table of all metrics; the endpoint shows them in this order.
package enum MetricsTable {
    static let requests = Metric(
        "dictum_requests_total", .counter, labels: ["route", "coding", "reason"],
        "Requests answered, by the route's match, the coding of the answer and the reason for it.")
    static let responses = Metric(
        "dictum_responses_total", .counter, labels: ["status"], "Answers by the class of their status.")
    static let bodyBytes = Metric(
        "dictum_body_bytes_total", .counter, labels: ["route", "stage"],
        "Bytes of answers' bodies before and after coding.")
    static let gainSamples = Metric(
        "dictum_gain_samples_total", .counter, labels: ["route"],
        "Deltas that were compared with the best coding that their client accepts without a dictionary.")
    static let gainBytes = Metric(
        "dictum_gain_bytes_total", .counter, labels: ["route", "stage"],
        "Bytes of the deltas that were compared, and of the same bodies in the best other coding.")
    static let compressionSeconds = Metric(
        "dictum_compression_seconds_total", .counter, labels: ["coding"], "Time spent in encoders.")
    static let compressionBusy = Metric(
        "dictum_compression_busy_total", .counter,
        "Answers that found no place to be coded as decided, and went out in a cheaper way.")
    static let compressionMemory = Metric(
        "dictum_compression_memory_bytes", .gauge,
        "Bytes of compression.memory that encoders, decoders and held bodies have taken.")
    static let deltaCacheLookups = Metric(
        "dictum_delta_cache_lookups_total", .counter, labels: ["result"],
        "Deltas that were there, that another request was making, and that had to be made.")
    static let deltaCacheBytes = Metric(
        "dictum_delta_cache_bytes", .gauge, "Bytes of the deltas that are kept to be sent again.")
    static let deltaCacheEvictions = Metric(
        "dictum_delta_cache_evictions_total", .counter, "Deltas that left the cache to make room.")
    static let preparedUses = Metric(
        "dictum_prepared_dictionary_uses_total", .counter, labels: ["result"],
        "Dictionaries that an encoder found indexed, indexed first, or used by reference.")
    static let preparedBytes = Metric(
        "dictum_prepared_dictionary_bytes", .gauge,
        "Bytes of the dictionaries that are indexed, and of their indexes.")
    static let preparedEvictions = Metric(
        "dictum_prepared_dictionary_evictions_total", .counter,
        "Indexed dictionaries that were dropped to make room.")
    static let verifyChecks = Metric(
        "dictum_verify_checks_total", .counter, "Deltas that were decoded again and compared.")
    static let verifyFailures = Metric(
        "dictum_verify_failures_total", .counter,
        "Deltas that did not decode to their body; each turns dictionaries off for its route.")
    static let strongestPasses = Metric(
        "dictum_strongest_passes_total", .counter, labels: ["result"],
        "Deltas coded again at the strongest setting, by what came of it.")
    static let requestDuration = Metric(
        "dictum_request_duration_seconds", .histogram,
        "Time from a request's head to the last byte of its answer.")
    static let connections = Metric(
        "dictum_connections", .gauge, labels: ["side", "state"], "Open connections.")
    static let connectionsOpened = Metric(
        "dictum_connections_total", .counter, labels: ["side"], "Connections opened.")
    static let handshakes = Metric(
        "dictum_tls_handshakes_total", .counter, labels: ["result"],
        "TLS handshakes of clients: full ones, resumed ones, and those that came to nothing.")
    static let rejectedRequests = Metric(
        "dictum_rejected_requests_total", .counter, labels: ["reason"],
        "Requests that Dictum refused, or gave up for their client's sake.")
    static let upstreamErrors = Metric(
        "dictum_upstream_errors_total", .counter, labels: ["kind"],
        "Failures of upstreams, those that another upstream made good included.")
    static let upstreamRetries = Metric(
        "dictum_upstream_retries_total", .counter, labels: ["reason"],
        "Requests that were sent once more, by what had become of them before.")
    static let upstreamRetriesOverBudget = Metric(
        "dictum_upstream_retries_over_budget_total", .counter,
        "Requests that were not sent once more because too many had been.")
    static let upstreamHealthy = Metric(
        "dictum_upstream_healthy", .gauge, labels: ["upstream", "address"],
        "1 where requests go to this address of an upstream; 0 where others are asked before it.")
    static let abortedResponses = Metric(
        "dictum_aborted_responses_total", .counter,
        "Answers that ended before their last byte, whoever was the cause.")
    static let admissions = Metric(
        "dictum_admissions_total", .counter, "Bodies that became a version of a chain.")
    static let admissionRefusals = Metric(
        "dictum_admission_refusals_total", .counter, labels: ["reason"],
        "Bodies that the store did not take; answers carry no offer then, unless that showed on the way only."
    )
    static let offers = Metric(
        "dictum_offers_total", .counter, "Answers that offered a dictionary to the client.")
    static let upgrades = Metric(
        "dictum_upgrades_total", .counter, "Connections that changed to another protocol, such as WebSocket.")
    static let unkeptOffers = Metric(
        "dictum_unkept_offers_total", .counter, labels: ["route", "reason"],
        "Answers that offered a dictionary but that no browser keeps, by the reason.")
    static let unfollowedLinks = Metric(
        "dictum_unfollowed_links_total", .counter, labels: ["route"],
        "Links to dictionaries on responses that are no documents, where no browser follows them.")
    static let announcements = Metric(
        "dictum_announced_dictionaries_total", .counter, labels: ["route"],
        "Links by which documents of a route announced dictionaries of other paths.")
    static let revalidations = Metric(
        "dictum_revalidations_total", .counter, labels: ["result"],
        "Requests that asked the upstream whether a stored answer still holds.")
    static let logLinesDropped = Metric(
        "dictum_log_lines_dropped_total", .counter,
        "Access log lines lost because standard output did not take them.")
    static let storeVersions = Metric("dictum_store_versions", .gauge, "Versions in the store.")
    static let storeChains = Metric("dictum_store_chains", .gauge, "Chains in the store.")
    static let storeChainsInProbation = Metric(
        "dictum_store_probation_chains", .gauge,
        "Those of the chains that nobody has asked for again; they share a fifth of the store.")
    static let storeBytes = Metric(
        "dictum_store_bytes", .gauge, labels: ["place"],
        "Bytes of the store: whole bodies and copies in memory, packed bodies there, the index, database and log on disk."
    )
    static let storeBodyBytes = Metric(
        "dictum_store_body_bytes_total", .counter, labels: ["form"],
        "Bytes of the bodies that were written: as they came, and as they were stored.")
    static let storeEvictions = Metric(
        "dictum_store_evictions_total", .counter, labels: ["reason"], "Versions that left the store.")
    static let storeWriteErrors = Metric(
        "dictum_store_write_errors_total", .counter, "Transactions that the disk did not take.")
    static let storeSetAsides = Metric(
        "dictum_store_set_asides_total", .counter, "Databases that were damaged and set aside.")
    static let advertised = Metric(
        "dictum_advertised_dictionaries_total", .counter, labels: ["result"],
        "Dictionaries that clients advertised, by what the store knew of them.")
    static let storeHolders = Metric(
        "dictum_store_versions_by_holders", .gauge, labels: ["holders"],
        "Versions by what is known of the clients that hold them.")
    static let dictionariesOn = Metric(
        "dictum_dictionaries_on", .gauge,
        "1 while dictionaries may be used and offered; 0 where the configuration or the switch turns them off."
    )
    static let reloads = Metric(
        "dictum_reloads_total", .counter, labels: ["result"],
        "Configurations that were read again, and taken or refused.")
    static let buildInfo = Metric(
        "dictum_build_info", .gauge, labels: ["version"], "Always 1; the label names the version.")
    static let processStart = Metric(
        "process_start_time_seconds", .gauge, "When the process started, in seconds since 1970.")
    static let processMemory = Metric(
        "process_resident_memory_bytes", .gauge, "Memory of the process that is resident.")
    static let processDescriptors = Metric("process_open_fds", .gauge, "Open file descriptors.")

    /// Every metric.
    package static let all: [Metric] = [
        requests, responses, bodyBytes, gainSamples, gainBytes, compressionSeconds, compressionBusy,
        compressionMemory,
        deltaCacheLookups,
        deltaCacheBytes, deltaCacheEvictions, preparedUses, preparedBytes, preparedEvictions, verifyChecks,
        verifyFailures, strongestPasses, requestDuration, connections, connectionsOpened,
        handshakes,
        rejectedRequests, upstreamErrors, upstreamRetries, upstreamRetriesOverBudget, upstreamHealthy,
        abortedResponses, admissions, admissionRefusals,
        offers, unkeptOffers, unfollowedLinks, announcements, revalidations,
        upgrades, logLinesDropped, storeVersions, storeChains, storeChainsInProbation,
        storeBytes, storeBodyBytes, storeEvictions, storeWriteErrors,
        storeSetAsides, advertised, storeHolders,
        dictionariesOn, reloads, buildInfo, processStart, processMemory,
        processDescriptors,
    ]
}
