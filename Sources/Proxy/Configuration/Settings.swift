internal import Dictionaries
internal import HTTP

/// The table of all settings, which drives reading, bounds, error texts and the reference.
///
/// The defaults are those of a fresh `Configuration`.
enum Settings {
    private static let minute = 60_000
    private static let day = 86_400_000
    private static let mebibyte = 1 << 20
    private static let tebibyte = 1 << 40

    static let all: [Setting<Configuration>] = [
        .list(
            "listeners", \.listeners, listener, fresh: .standard,
            countMax: 64, "Where connections are accepted.", check: { $0.check(&$1) }),
        .value(
            "trusted_proxies", \.trustedProxies, .list(.network, 0...256),
            "Peers whose X-Forwarded-* and Forwarded fields count; those of all others are replaced."),
        .value(
            "secure_transport", \.secureTransport,
            .choice(["auto": .auto, "assume": .assume, "never": .never]),
            """
            Dictionaries are used only where the client's transport is secure (RFC 9842 section 8). auto: TLS here, \
            https by a trusted peer, or a loopback peer that forwards for nobody; assume: always; never.
            """),
        .section("upstream", \.upstream, upstream, required: true, "Where answers come from."),
        .section("store", \.store, store, "Where dictionaries are kept."),
        .section(
            "compression", \.compression, compression,
            "What is compressed, for clients and routes without a dictionary too."),
        .value("dictionaries", \.dictionariesOn, .flag, "off: no dictionary is used or offered anywhere."),
        .value(
            "authorities", \.authorities, .list(.authority, 0...256),
            """
            The hosts that have dictionaries, such as api.example.com, *.example.com or localhost:8080; a name without a \
            port is for every port. Requests for other hosts are answered without a dictionary. Without any name all have \
            them, and those to which no client has come back share a twentieth of the store.
            """),
        .list(
            "routes", \.routes, route, fresh: RouteConfiguration.fresh, countMax: 1_000,
            "The first route that matches counts. Without any there is one, /*, whose delivery is in_band.",
            check: { $0.check(&$1) }),
        .value(
            "personal", \.personal, .choice(["capability": .capability, "off": .off]),
            """
            What becomes of personal responses. capability: each is a dictionary for the clients that were given it, which \
            prove that by its id. off: they are compressed without a dictionary, and none is made of them.
            """),
        .value(
            "personal_fields", \.personalFields, .list(.fieldPattern, 0...256),
            "Request fields that make a response personal; a * at either end stands for any characters."),
        .value(
            "personal_query", \.personalQuery, .list(.queryName, 0...256),
            """
            Query names that make a response personal; a * at either end stands for any characters. Their values are never \
            logged. token also stands for user[token] and user.token.
            """),
        .value(
            "ignore_cookies", \.ignoreCookies, .list(.ignoredCookie, 0...256),
            """
            Request cookies that make no response personal: exact names, or patterns of names with the shape of the value, \
            where # stands for digits and * for any characters. A list here replaces this one.
            """),
        .value(
            "request_id", \.requestID, .requestField,
            """
            The field that gives each request to the upstream an identifier, 32 random hexadecimal digits, also in the \
            access log. One that a trusted peer sends is kept, if it is one of 1 to 128 letters, digits and -_.+/=:@; all \
            others are replaced. off: the field passes as it comes.
            """),
        .section("limits", \.limits, limits, "What a client may ask for."),
        .sectionOrOff(
            "admin", \.admin, admin, fresh: Configuration.Admin(),
            "Where /healthz, /readyz, /metrics and the switch /dictionaries are served; off to have none."),
        .section("log", \.log, log, "What is logged, and how."),
        .value("explain", \.explain, .flag, "true: every answer carries Dictum-Explain."),
    ]

    static let listener: [Setting<Configuration.Listener>] = [
        .value("address", \.address, .listenAddress, required: true, "Where it listens."),
        .value(
            "proxy_protocol", \.proxyProtocol, .flag,
            """
            Connections begin with a PROXY protocol header, version 1 or 2, and come from trusted_proxies; what it \
            says of the client counts.
            """),
        .value(
            "reuse_port", \.reusesPort, .flag,
            """
            Another process may listen at the same IP address and port, and gets a part of the connections \
            (SO_REUSEPORT). Without it a port that is taken is an error. To replace the program there is SIGUSR2.
            """),
        .sectionOrOff(
            "tls", \.tls, tls, fresh: Configuration.TLS(),
            "How it speaks TLS. The files are read again on SIGHUP, and when they have changed."),
        .value(
            "redirect", \.redirectPort, .redirectOrOff, example: "https",
            "Where it speaks no TLS: answers with the same URL by https, at another port if one is named."),
        .value(
            "hsts", \.strictTransportSecurity, .strictTransportSecurity, example: "max-age=31536000",
            "The Strict-Transport-Security of its answers by TLS, unless the upstream sends one (RFC 6797)."),
        .value(
            "mptcp", \.isMultipath, .flag,
            """
            Multipath TCP (RFC 8684), so that phones keep a connection from one network to the next; TCP where the \
            kernel has none, which is logged.
            """),
        .value(
            "tcp_keepalive", \.keepAlive, .durationOrOff(1000...32_400_000, on: 60_000),
            """
            After how long a silence the kernel asks whether a client is still there, and gives the connection up after \
            four questions; on is 1m.
            """),
        .value(
            "fast_open", \.fastOpenQueue, .countOrOff(1...65_535),
            """
            TCP Fast Open (RFC 7413): how many connections may wait that brought data with their first packet, which may \
            come twice. Needs net.ipv4.tcp_fastopen with 2.
            """),
    ]

    static let admin: [Setting<Configuration.Admin>] = [
        .value("address", \.address, .listenAddressOrOff, "Where it listens; off to have none."),
        .value(
            "token", \.token, .secret(bytes: 16...1024), example: "${DICTUM_ADMIN_TOKEN}",
            "Sent as `Authorization: Bearer ...` it allows all but probes from elsewhere than this machine's own localhost."
        ),
    ]

    static let upstream: [Setting<Configuration.Upstream>] = [
        .value(
            "urls", \.urls, .list(.upstreamURL, 1...256), required: true,
            example: "[\"http://127.0.0.1:9000\"]",
            """
            The upstreams. Requests are spread over all of them, and over all addresses of a name, as long as they \
            are healthy.
            """),
        .value(
            "balance", \.balance,
            .choice(["round_robin": .roundRobin, "least_connections": .leastConnections]),
            "round_robin: one after the other; least_connections: the one with the fewest requests under way."
        ),
        .value(
            "accept_encoding", \.acceptEncoding, .choice(["identity": .identity, "pass": .pass]),
            "pass sends the client's own Accept-Encoding, for upstreams with precompressed files."),
        .value("connect_timeout", \.connectTimeout, .duration(1...10 * minute), "The time to connect."),
        .value("response_timeout", \.responseTimeout, .duration(1...day), "The time to the whole head."),
        .value(
            "idle_timeout", \.idleTimeout, .duration(1...day),
            "The time between two bytes, of the upstream's and of a client's bodies alike."),
        .value(
            "keep_alive", \.keepAlive, .count(0...100_000),
            """
            How many idle connections are kept; 0 for none. Under load as many are kept as requests of the last 20 \
            seconds were under way at once.
            """),
        .value(
            "max_failures", \.maxFailures, .count(0...1_000),
            """
            So many failures in a row (no connection, no head in time, no valid head) have an upstream passed over as \
            long as there are others; 0: never.
            """),
        .value(
            "fail_timeout", \.failTimeout, .duration(1...day),
            """
            For how long. Then one request tries it, and each time that fails the time doubles, up to eight times this.
            """),
        .value(
            "retries", \.retries, .count(0...10),
            """
            How often a request that an upstream did not answer at all is sent to another, at most: one without a body \
            and of an idempotent method, or one of which nothing was sent. In ten seconds, a fifth of a loop's requests \
            and ten more.
            """),
        .value(
            "resolve_interval", \.resolveInterval, .duration(1_000...day),
            "How often names are resolved again. One that has no address just now keeps those that it had."),
        .sectionOrOff(
            "health", \.health, health, fresh: Configuration.Upstream.Health(),
            """
            Requests that find out which upstreams are healthy, by two results in a row; off, as by default: only \
            clients' requests do.
            """),
        .section("tls", \.tls, upstreamTLS, "How https:// URLs are spoken to; read again on SIGHUP."),
    ]

    static let upstreamTLS: [Setting<Configuration.UpstreamTLS>] = [
        .value(
            "ca", \.authority, .pathOrNone, example: "/etc/dictum/tls/upstream-ca.pem",
            "The authorities that its certificate must lead to, in PEM; without it those of the system."),
        .value(
            "certificate", \.certificate, .pathOrNone, example: "/etc/dictum/tls/client.pem",
            "The certificate that it is shown, in PEM, if it asks for one."),
        .value(
            "private_key", \.privateKey, .pathOrNone, example: "/etc/dictum/tls/client.key",
            "The key of that certificate, in PEM."),
        .value(
            "verify", \.verifies, .flag,
            "off: anybody on the way can be the upstream, since its certificate is not looked at."),
    ]

    static let health: [Setting<Configuration.Upstream.Health>] = [
        .value("path", \.path, .requestTarget, "What is asked for, by GET."),
        .value("interval", \.interval, .duration(100...day), "The time from one check to the next."),
        .value("timeout", \.timeout, .duration(1...10 * minute), "The time to the whole head of the answer."),
        .value("status", \.status, .expectedStatus, "The statuses of a healthy upstream."),
    ]

    static let store: [Setting<Configuration.Store>] = [
        .value("path", \.path, .path, "The file of the database, or :memory: to keep nothing."),
        .value(
            "max_size", \.maxSize, .size(mebibyte...16 * tebibyte),
            """
            Bodies and rows; the least wanted go first. The log takes up to 32 MiB beside it. Without routes, a fifth of it and of max_chains \
            is all that paths get before somebody asks for them again.
            """),
        .value("max_chains", \.maxChains, .count(1...10_000_000), "How many chains are kept."),
        .value(
            "memory", \.memory, .size(mebibyte...tebibyte),
            """
            For hot bodies and copies being admitted, and for the index, which takes 0.6 KB a version and 0.7 KB a \
            chain, beside their names; a quarter stays for the bodies.
            """),
        .value(
            "write_rate", \.writeRate, .size(1 << 10...tebibyte),
            """
            What is written per second, but no more than twice max_size; answers beyond it are not kept, and offer nothing.
            """),
        .value(
            "key_file", \.keyFile, .pathOrNone, example: "./dictum.sqlite.key",
            """
            The file with the key that ids are made and personal bodies are sealed with; made if it is missing. Without one named, the path of the \
            database with .key after it, where whoever copies the folder has both.
            """),
        .value(
            "private_max_size", \.privateMaxSize, .sizeOrNone(mebibyte...16 * tebibyte), example: "256MiB",
            """
            What personal dictionaries take of max_size, at most, compressed, with 1 KiB for each; without it a quarter. They take no \
            place of max_chains. Where it is short, those of the client addresses (IPv6: /64) that have the most go first.
            """),
    ]

    static let levels: [Setting<CodingLevels>] = [
        .value("gzip", \.gzip, .level(1...9), "The level of gzip."),
        .value("br", \.br, .level(1...11), "The quality of brotli; from 10 on 1 MB takes seconds."),
        .value("zstd", \.zstd, .level(1...19), "The level of Zstandard; from 16 on 1 MB takes a second."),
    ]

    static let compression: [Setting<Configuration.Compression>] = [
        .value(
            "codings", \.codings, .codings,
            """
            The server's preference among what the client likes equally. Below 24 KiB gzip comes before zstd, and below \
            128 KiB before br: it is smaller, or takes less time. A level given below keeps its coding's place.
            """),
        .section(
            "levels", \.levels, levels,
            """
            Levels of the codings without a dictionary. auto follows the length of the body, so that what is sent is \
            never more than gzip -6 sends, for no more CPU time. Bodies that are sent while they come take at most \
            zstd 9 and br 5.
            """),
        .value("min_size", \.minSize, .size(0...1 << 30), "Smaller bodies are not compressed."),
        .value(
            "types", \.typeNames, .list(.mediaType, 0...256),
            "The media types that are compressed; * stands for any letters."),
        .value(
            "memory", \.memory, .size(mebibyte...tebibyte),
            """
            For live encoders, decoders of what the upstream coded, and held bodies together; beyond it answers go \
            uncompressed, or as the upstream coded them.
            """),
        .value(
            "prepared_memory", \.preparedMemory, .size(0...tebibyte),
            "For dictionaries that are indexed, from their second use on; 0: each use indexes anew."),
        .value(
            "delta_memory", \.deltaMemory, .size(0...tebibyte),
            "For deltas that were made, to be sent again; 0: each is made anew."),
        .value(
            "verify", \.verify, .choice(["sampled": .sampled, "always": .always, "never": .never]),
            """
            Which deltas are decoded again before they are sent. sampled: one in a hundred, and the first of each indexed \
            dictionary. Those that are kept to be sent again always are.
            """),
    ]

    static let route: [Setting<RouteConfiguration>] = [
        .value(
            "match", \.match, .routeMatch, required: true, example: "/*",
            """
            A URL Pattern for the whole path, which begins with /; /api/* is all below /api/. Any query fits, unless a \
            search is written. Or a list of patterns, such as ["/v1/*", "/v2/*"], of which any may match; no regular \
            expressions.
            """),
        .value(
            "announce", \.announcement, .announcement, example: "[/api/feed]",
            """
            Which dictionaries of other paths the documents of this route announce by Link, at most four each. auto: those of \
            public paths that the clients of a document fetch afterwards, as long as that pays; nothing where dictionary is \
            off. A list: those of its paths.
            """),
        .sectionOrOff(
            "dictionary", \.dictionary, dictionary, fresh: DictionaryPolicy(),
            "How dictionaries are used here; on: as by default; off: not at all, and the upstream's own pass."
        ),
    ]

    static let dictionary: [Setting<DictionaryPolicy>] = [
        .value(
            "covers", \.coversText, .covers,
            """
            What an answer is a dictionary for. path: its own path with any query; url: its own path and query; \
            pattern: this route's match; or a template that names captures of the match, such as /app/<name>.*.js.
            """),
        .value(
            "versions", \.versions, .count(1...10_000_000),
            "The most versions that a chain keeps; clients, max_size and max_age bound it otherwise."),
        .value("max_age", \.maxAge, .duration(1_000...3_650 * day), "How long after it was last wanted."),
        .value("max_body", \.maxBody, .size(1...128 * mebibyte), "Larger answers never become dictionaries."),
        .value(
            "ttl", \.ttl, .optional(.duration(1_000...3_650 * day)), example: "7d",
            "Sends the ttl member, for clients of your own: browsers ignore it, and go by the response's freshness."
        ),
        .value(
            "cache_control", \.cacheControl, .optional(.cacheControl),
            example: "\"public, max-age=60, stale-while-revalidate=86400\"",
            """
            Replaces the upstream's Cache-Control, Expires and Pragma on 200 and 304 to GET and HEAD; never on responses with \
            no-store or no-transform, and on those that are personal or set a cookie only if it says private itself.
            """),
        .value(
            "match_dest", \.matchDest, .list(.destination, 0...32), example: "[script, style]",
            "The request destinations that the dictionary is for; none: all."),
        .value(
            "delivery", \.delivery, .choice(["auto": .auto, "in_band": .inBand, "link": .link]),
            """
            in_band: the response itself is the dictionary; link: it names one to fetch; auto: in_band, but a Link for \
            documents that clients would drop within a minute. A Link names only bodies of responses that say public or s-maxage \
            (or whose cache_control here does) which went alike to three client addresses; until then it is in_band.
            """),
        .value(
            "link_max_age", \.linkMaxAge, .duration(minute...365 * day),
            """
            How long Links name the same version at most, and how long it may be cached. It is kept twice as long, and replaced \
            early once deltas over a fresh one would save more than the download costs.
            """),
        .value(
            "scope", \.scope, .choice(["public": .public, "private": .private]),
            "private: the dictionaries are one user's each, and only of use for answers to the same."),
        .value(
            "identity", \.identity, .identity, example: "[authorization]",
            """
            What tells one user from another on a private route, beside the id: what the upstream goes by. Each item must be there \
            once, and no Authorization or cookie besides, unless cookies are ignored. response:NAME is a field of \
            the upstream's answers, which is not passed on.
            """),
        .value(
            "personal", \.personal, .optional(.choice(["capability": .capability, "off": .off])),
            example: "off",
            "The setting of the same name for this route."),
        .value(
            "store_despite", \.storeDespite, .list(.choice(["no-store": .noStore]), 0...1),
            example: "[no-store]",
            """
            no-store: responses become dictionaries although they say so, as personal ones do. For frameworks that put it on \
            everything; name only routes whose bodies may lie sealed on this disk and in the cache of the client.
            """),
        .value(
            "private_versions", \.privateVersions, .count(1...1_000),
            "How many past answers a chain of a private route keeps, in place of versions."),
        .value(
            "cookies", \.cookiesIgnored, .choice(["personal": false, "ignore": true]),
            "ignore: cookies of requests do not personalise answers here."),
        .value(
            "ignore_set_cookie", \.ignoreSetCookie, .list(.cookieName, 0...64),
            "Names of cookies whose Set-Cookie does not bar admission, such as a balancer's."),
        .value(
            "shared_caches", \.sharedCaches, .choice(["avoid": .avoid, "trust": .trust]),
            "avoid: caches on the way are told not to store dictionary-coded answers."),
        .value(
            "revalidate", \.revalidate, .flag,
            """
            Asks the upstream with If-None-Match whether the last answer still holds, and sends that on a 304. Only \
            for requests with the fields that every client sends, and answers that are nobody's own, with a strong \
            ETag of the upstream's.
            """),
    ]

    static let limits: [Setting<Configuration.Limits>] = [
        .value("request_head", \.requestHead, .size(1 << 10...mebibyte), "The head of a request."),
        .value("request_body", \.requestBody, .size(0...tebibyte), "The body of a request."),
        .value("connections", \.connections, .count(1...1_000_000), "Connections of clients at a time."),
        .value("head_timeout", \.headTimeout, .duration(1...10 * minute), "The time to the whole head."),
        .value(
            "keep_alive_timeout", \.keepAliveTimeout, .duration(1...day),
            "How long an idle connection is kept."),
        .value(
            "body_rate", \.bodyRate, .size(0...mebibyte),
            """
            The bytes per second at which a request's body must come and an answer be taken, and at which an upstream must \
            send an answer of known length: who is slower for as long as upstream.idle_timeout is cut off. 0: silence alone \
            cuts off.
            """),
        .value(
            "tunnel_timeout", \.tunnelTimeout, .duration(1...day),
            "How long a connection that was upgraded, to WebSocket for example, may be silent."),
        .value(
            "drain_timeout", \.drainTimeout, .duration(0...day),
            "How long requests under way may take to end after SIGTERM; a second one ends them at once."),
        .section(
            "client", \.client, client,
            """
            What each client may ask for. Clients are told apart by the address that trusted_proxies name, or the peer's own; \
            a trusted peer that names nobody is not limited.
            """),
    ]

    static let client: [Setting<Configuration.ClientLimits>] = [
        .value(
            "rate", \.rate, .optional(.rate), example: "100/s",
            "How often it may ask; beyond it answers are 429 with Retry-After. Without it, as often as it likes."
        ),
        .value(
            "burst", \.burst, .optional(.count(1...1_000_000)), example: "100",
            "How many requests may come at once; without it, those of a second."),
        .value(
            "by", \.by, .clientKey,
            """
            What tells clients apart for the rate. header:NAME is of use only for a field that somebody checks, such as an \
            API key; requests without it count by address.
            """),
        .value(
            "connections", \.connections, .optional(.count(1...1_000_000)), example: "100",
            "How many connections it may have, by address; further ones get 503. Those of trusted peers are not counted."
        ),
        .value(
            "ipv6_prefix", \.ipv6Prefix, .count(16...128),
            "How many bits of an IPv6 address are one client: the network of a household or a server."),
    ]

    static let log: [Setting<Configuration.Log>] = [
        .value(
            "level", \.level,
            .choice(["debug": .debug, "info": .info, "warning": .warning, "error": .error]),
            "The least level that is logged."),
        .value(
            "format", \.format, .choice(["auto": .auto, "text": .text, "json": .json]),
            "The form of each line; auto: text on a terminal, else JSON."),
        .value(
            "access", \.accessShare, .share, "Whether each request is one line; a share logs some of them."),
    ]
}
