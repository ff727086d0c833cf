package import HTTP

extension Configuration {
    /// Servers that requests are spread over, and how to reach them.
    package struct Upstream: Sendable, Equatable {
        /// The name below `upstreams`; empty for the setting `upstream`.
        package var name = ""
        /// The upstreams; at least one in a configuration that was read.
        package var urls: [UpstreamURL] = []
        package var tls = UpstreamTLS()
        package var acceptEncoding = AcceptEncodingMode.identity
        package var connectTimeout = 2_000
        package var responseTimeout = 30_000
        package var idleTimeout = 60_000
        package var keepAlive = 256
        package var maxRequests: Int?
        package var queueTimeout = 5_000
        package var balance = Balance.roundRobin
        package var maxFailures = 3
        package var failTimeout = 10_000
        package var retries = 2
        package var resolveInterval = 30_000
        package var health: Health?

        package enum Balance: Sendable, Equatable {
            case roundRobin
            /// The upstream with the fewest requests in progress.
            case leastConnections
        }

        package struct Health: Sendable, Equatable {
            package var path = "/"
            package var interval = 10_000
            package var timeout = 2_000
            package var status = ExpectedStatus.success
        }

        package enum AcceptEncodingMode: Sendable, Equatable {
            case identity
            /// The client's, without dcz and dcb.
            case pass
        }
    }

    /// All upstreams: the one for routes that name none, if there is one, and the named ones.
    var allUpstreams: [Upstream] { (upstream.urls.isEmpty ? [] : [upstream]) + upstreams }

    package typealias UpstreamTLS = TLSClientSettings
}

extension Configuration.Upstream {
    var key: String { Self.key(of: name) }

    static func key(of name: String) -> String { name.isEmpty ? "upstream" : "upstreams.\(name)" }
}

extension Settings {
    static let upstream: [Setting<Configuration.Upstream>] = [
        .value(
            "urls", \.urls, .list(.upstreamURL, 1...256), required: true,
            example: "[\"http://127.0.0.1:9000\"]",
            """
            The upstreams. Dictum distributes requests over all of them, and over all addresses of a host name, as long as \
            they are healthy.
            """),
        .value(
            "balance", \.balance,
            .choice(["round_robin": .roundRobin, "least_connections": .leastConnections]),
            "round_robin: each in turn; least_connections: the one with the fewest requests in progress."),
        .value(
            "accept_encoding", \.acceptEncoding, .choice(["identity": .identity, "pass": .pass]),
            "pass: forwards the client's Accept-Encoding, for upstreams with precompressed files."),
        .value("connect_timeout", \.connectTimeout, .duration(1...10 * minute), "Time-out for connecting."),
        .value(
            "response_timeout", \.responseTimeout, .duration(1...day),
            "Time-out for the complete response head."),
        .value(
            "idle_timeout", \.idleTimeout, .duration(1...day),
            "Time-out between two bytes of a body, in both directions."),
        .value(
            "keepalive", \.keepAlive, .count(0...100_000),
            """
            The number of idle connections to keep; 0 for none. Under load, Dictum keeps as many as there were concurrent \
            requests in the last 20 seconds.
            """),
        .value(
            "max_requests", \.maxRequests, .optional(.count(1...1_000_000)), example: "200",
            """
            The maximum number of requests at this upstream at a time, all addresses together. Further ones wait for \
            queue_timeout. One client may have half of them. Without it, the descriptor limit bounds \
            the requests of all upstreams, and each address gets at most 20000.
            """),
        .value(
            "queue_timeout", \.queueTimeout, .duration(0...10 * minute),
            "The time that a request waits while others have all places. Then it gets a 503 with Retry-After."
        ),
        .value(
            "max_failures", \.maxFailures, .count(0...1_000),
            """
            The number of consecutive failures (no connection, time-out, invalid head) after which an upstream is ejected, if \
            there are others; 0: never.
            """),
        .value(
            "fail_timeout", \.failTimeout, .duration(1...day),
            """
            The time for which a failed upstream is ejected. After that, one request tries it. Each further failure doubles \
            the time, up to eight times this value.
            """),
        .value(
            "retries", \.retries, .count(0...10),
            """
            The maximum number of retries per request, each at another address; an only address is retried if it closed the \
            connection. A request is retried if the upstream sent no byte of a response and the request is idempotent and has \
            no body, or if nothing of it was sent. Within ten seconds, each event loop retries a fifth of an upstream's \
            requests, and ten more. Retries after a failed connect are not part of that.
            """),
        .value(
            "resolve_interval", \.resolveInterval, .duration(1_000...day),
            "The time between two resolutions of a name. If a resolution fails, the known addresses stay in use."
        ),
        .sectionOrOff(
            "health", \.health, health, fresh: Configuration.Upstream.Health(),
            """
            Health checks. Two results in a row change the state of an upstream. off, the default: only client requests tell \
            whether an upstream is healthy.
            """),
        .section(
            "tls", \.tls, upstreamTLS, "TLS to https:// upstreams. Dictum reads the files again on SIGHUP."),
    ]

    static let upstreamTLS: [Setting<Configuration.UpstreamTLS>] = [
        .value(
            "ca", \.authority, .optional(.path), example: "/etc/dictum/tls/upstream-ca.pem",
            "The trusted authorities, in PEM. Without it, those of the system are trusted."),
        .value(
            "certificate", \.certificate, .optional(.path), example: "/etc/dictum/tls/client.pem",
            "The client certificate for upstreams that ask for one, in PEM."),
        .value(
            "private_key", \.privateKey, .optional(.path), example: "/etc/dictum/tls/client.key",
            "The key of that certificate, in PEM."),
        .value(
            "verify", \.verifies, .flag,
            "off: Dictum does not check the upstream's certificate, so anybody in between can impersonate it."
        ),
    ]

    static let health: [Setting<Configuration.Upstream.Health>] = [
        .value("path", \.path, .requestTarget, "The path to request with GET."),
        .value("interval", \.interval, .duration(100...day), "The time between two checks."),
        .value("timeout", \.timeout, .duration(1...10 * minute), "Time-out for the complete response head."),
        .value("status", \.status, .expectedStatus, "The statuses of a healthy upstream."),
    ]
}
