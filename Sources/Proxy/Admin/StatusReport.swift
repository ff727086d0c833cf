internal import Dictionaries
internal import HTTP
internal import Primitives
internal import Storage

/// The response to `/status`; `deploy/ADMIN.md` describes its members.
struct StatusReport: Encodable, Sendable {
    struct Dictionaries: Encodable, Sendable {
        let on: Bool
        let configured: Bool
    }

    struct Requests: Encodable, Sendable {
        let total: Int
        let deltas: Int
        let notModified: Int
        let hitRate: Double?
        let byStatus: [String: Int]
        let rejected: [String: Int]
    }

    struct Connections: Encodable, Sendable {
        struct Side: Encodable, Sendable {
            let active: Int
            let idle: Int
        }

        let client: Side
        let upstream: Side
    }

    struct Store: Encodable, Sendable {
        let versions: Int
        let chains: Int
        let maxChains: Int
        let diskBytes: Int
        let maxDiskBytes: Int
        let memoryBytes: Int
        let packedBytes: Int
        let indexBytes: Int
        let evictions: [String: Int]
    }

    struct Memory: Encodable, Sendable {
        struct Use: Encodable, Sendable {
            let usedBytes: Int
            let maxBytes: Int
        }

        let residentBytes: Int?
        let maxBytes: Int
        let usedBytes: Int
        let budgets: [String: Use]

        init(_ parts: SharedParts, residentBytes: Int?) {
            let uses = Budget.allCases.map { budget in
                (
                    budget.rawValue,
                    Use(usedBytes: parts.usedBytes(of: budget), maxBytes: parts.budgets[budget])
                )
            }
            self.residentBytes = residentBytes
            maxBytes = parts.budgets.total
            usedBytes = uses.reduce(0) { $0 + $1.1.usedBytes }
            budgets = Dictionary(uniqueKeysWithValues: uses)
        }
    }

    struct Upstream: Encodable, Sendable {
        /// The name in `upstreams`; empty for the setting `upstream`.
        let name: String
        let url: String
        let address: String
        let healthy: Bool
    }

    let version: String
    /// Seconds since 1970.
    let time: Int
    let startTime: Int
    let ready: Bool
    let unreadyReason: String?
    let dictionaries: Dictionaries
    let logLevel: String
    let requests: Requests
    let bytes: BodyBytes
    let connections: Connections
    let store: Store
    let memory: Memory
    /// The time that encoders took, by coding.
    let codingSeconds: [String: Double]
    let upstreams: [Upstream]
    let reloads: [String: Int]
    let warnings: [AdminWarning]

    init(_ status: AdminStatus, _ snapshot: AdminStatus.Snapshot) {
        let table = SampleTable(snapshot.samples)
        let configuration = snapshot.context.configuration
        let live = SavingsReport.Live.byRoute(snapshot.samples, snapshot.context.gain.totals).values
        version = DictumVersion.text
        time = Int(SystemClock.unixSeconds)
        startTime = table.value("process_start_time_seconds") ?? 0
        unreadyReason = status.unreadiness
        ready = unreadyReason == nil
        dictionaries = Dictionaries(
            on: status.areDictionariesOn, configured: status.areDictionariesConfigured)
        logLevel = status.logLevel.rawValue
        let total = table.count("dictum_requests_total")
        let deltas = live.reduce(0) { $0 + $1.deltas }
        let notModified = live.reduce(0) { $0 + $1.notModified }
        requests = Requests(
            total: total, deltas: deltas, notModified: notModified,
            hitRate: SavingsReport.Live.hitRate(total, deltas: deltas, notModified: notModified),
            byStatus: table.counts("dictum_responses_total"),
            rejected: table.counts("dictum_rejected_requests_total"))
        bytes = BodyBytes(live.map { BodyBytes($0) })
        connections = Connections(
            client: .init(
                active: table.count("dictum_connections", "client", "active"),
                idle: table.count("dictum_connections", "client", "idle")),
            upstream: .init(
                active: table.count("dictum_connections", "upstream", "active"),
                idle: table.count("dictum_connections", "upstream", "idle")))
        let started = snapshot.context.shared.started.store
        store = Store(
            versions: table.count("dictum_store_versions"), chains: table.count("dictum_store_chains"),
            maxChains: started.maxChains, diskBytes: table.count("dictum_store_bytes", "disk"),
            maxDiskBytes: started.maxSize, memoryBytes: table.count("dictum_store_bytes", "memory"),
            packedBytes: table.count("dictum_store_bytes", "packed"),
            indexBytes: table.count("dictum_store_bytes", "index"),
            evictions: table.counts("dictum_store_evictions_total"))
        memory = Memory(snapshot.context.shared, residentBytes: table.value("process_resident_memory_bytes"))
        codingSeconds = table["dictum_compression_seconds_total"].reduce(into: [:]) { seconds, sample in
            if sample.count > 0 { seconds[sample.labels[0]] = sample.value }
        }
        upstreams = snapshot.context.upstreams.servers.map {
            Upstream(name: $0.name, url: $0.url, address: $0.target.endpoint.text, healthy: $0.isHealthy)
        }
        reloads = table.counts("dictum_reloads_total")
        let states = AdminWarning.states(
            snapshot, store: store, memory: memory, unreadiness: unreadyReason, dictionaries: dictionaries,
            linesLost: table.counts("dictum_log_lines_dropped_total"))
        warnings = AdminWarning.ordered(
            states + AdminWarning.configured(configuration)
                + AdminWarning.logged(snapshot.context.shared.events.entries()))
    }
}
