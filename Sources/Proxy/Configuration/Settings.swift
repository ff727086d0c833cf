internal import Dictionaries

/// The table of all settings, which drives reading, bounds, error texts, the reference and the advice to restart.
///
/// Each section's table stands beside its type. The defaults are those of a fresh `Configuration`.
enum Settings {
    static let minute = 60_000
    static let day = 86_400_000
    static let mebibyte = 1 << 20
    static let tebibyte = 1 << 40

    /// The shortest value of `upstream`, for error texts.
    static let exampleUpstream = "{urls: [\"http://127.0.0.1:9000\"]}"

    static let all: [Setting<Configuration>] = [
        .list(
            "listeners", \.listeners, listener, fresh: .standard, countMax: 64,
            "The addresses that accept connections.", check: { $0.check(&$1) },
            same: { $0.address == $1.address }),
        .value(
            "trusted_proxies", \.trustedProxies, .list(.network, 0...256),
            """
            Peers whose X-Forwarded-* and Forwarded fields are trusted. For all other peers, Dictum replaces these fields.
            """),
        .value(
            "secure_transport", \.secureTransport,
            .choice(["auto": .auto, "assume": .assume, "never": .never]),
            """
            Dictionaries are used only if the client's transport is secure (RFC 9842 section 8). auto: TLS to Dictum, https \
            reported by a trusted peer, or a loopback peer that forwards for nobody; assume: always; never.
            """),
        .section(
            "upstream", \.upstream, upstream, example: exampleUpstream,
            """
            The servers behind the proxy, for routes that name no upstream and for requests that match no route. Without it, \
            every route names one of upstreams, and requests that match no route get a 404.
            """),
        .named(
            "upstreams", \.upstreams, \.name, upstream, fresh: Configuration.Upstream(), countMax: 256,
            example: "{shop: {urls: [\"http://127.0.0.1:9001\"]}}",
            "Further upstreams by name, each with the settings of upstream. Routes choose one by its name."),
        .section("store", \.store, store, "The store of dictionaries."),
        .sectionOrValue(
            "memory", \.memory, memory, short: \.total, .sizeOrAuto(16 * mebibyte...tebibyte),
            """
            The budgets of memory: one limit for all, and the share of each. A size may stand in place of these settings: \
            it is the value of total. The program, its connections and its tables come on top.
            """),
        .section(
            "compression", \.compression, compression,
            "Compression, which also applies to clients and routes without a dictionary."),
        .value(
            "dictionaries", \.dictionariesOn, .flag, "off: Dictum neither uses nor offers any dictionary."),
        .value(
            "mode", \.mode, .mode,
            """
            live: dictionaries are used and offered. observe: clients get exactly what they would get with dictionary: off, \
            and Dictum measures beside the traffic what dictionaries would save, for `dictum report`. Routes may have a mode \
            of their own.
            """),
        .section("observe", \.observe, observe, "The resources for observing."),
        .sectionOrOff(
            "experiment", \.experiment, experiment, fresh: Configuration.Experiment(),
            """
            A share of clients without dictionaries, to compare bytes and latency with. `dictum report` has the comparison. \
            Server-Timing tells each client its side.
            """),
        .value(
            "authorities", \.authorities, .list(.authority, 0...256),
            """
            The hosts that have dictionaries, such as api.example.com, *.example.com or localhost:8080. A name without a \
            port stands for every port. Requests for other hosts get no dictionary. If the list is empty, all hosts have \
            dictionaries, and hosts to which no client has returned share a twentieth of the store.
            """),
        .list(
            "routes", \.routes, route, fresh: RouteConfiguration.fresh, countMax: 1_000,
            """
            The routes; the first that matches a request applies. Without this list there is one route, /*, with \
            delivery: in_band.
            """,
            check: { $0.check(&$1) }),
        .value(
            "personal", \.personal, .choice(["capability": .capability, "off": .off]),
            """
            The use of personal responses. capability: each is a dictionary for the clients that received it, which prove \
            that with its id. off: they are compressed without a dictionary and never become dictionaries.
            """),
        .value(
            "personal_fields", \.personalFields, .list(.fieldPattern, 0...256),
            "Request fields that make a response personal. A * at either end matches any characters."),
        .value(
            "personal_query", \.personalQuery, .list(.queryName, 0...256),
            """
            Query parameters that make a response personal. A * at either end matches any characters; token also covers \
            user[token] and user.token. Their values are never logged.
            """),
        .value(
            "ignore_cookies", \.ignoreCookies, .list(.ignoredCookie, 0...256),
            """
            Request cookies that do not make a response personal: exact names, or patterns of name and value, in which # \
            matches digits and * matches any characters. A list here replaces the default list.
            """),
        .value(
            "request_id", \.requestID, .requestField,
            """
            The field that carries an identifier of each request, 32 random hexadecimal digits, to the upstream and into the \
            access log. An identifier from a trusted peer is kept if it has 1 to 128 letters, digits or -_.+/=:@; all others \
            are replaced. off: the field passes unchanged.
            """),
        .section("limits", \.limits, limits, "Limits for clients."),
        .sectionOrOff(
            "admin", \.admin, admin, fresh: Configuration.Admin(),
            """
            The listener for the admin page, its JSON API, /metrics and the probes /healthz and /readyz. off: no such listener.
            """
        ),
        .section("log", \.log, log, "Logging."),
        .sectionOrOff(
            "server_timing", \.serverTiming, serverTiming, fresh: Configuration.ServerTiming(),
            """
            Server-Timing on responses: the coding with its reason, the time until the head, and the upstream's part of it. \
            Pages read it as PerformanceResourceTiming.serverTiming.
            """),
        .value("explain", \.explain, .flag, "true: every response carries Dictum-Explain."),
    ]
}
