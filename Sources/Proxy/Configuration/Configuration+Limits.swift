internal import HTTP

extension Configuration {
    package struct Limits: Sendable, Equatable {
        package var requestHead = 32 << 10
        package var responseHead = 64 << 10
        package var requestBody = 64 << 20
        package var connections = 10_000
        package var headTimeout = 10_000
        package var keepAliveTimeout = 75_000
        package var keepAliveRequests = 1_000_000
        package var bodyRate = 240
        package var tunnelTimeout = 600_000
        package var drainTimeout = 10_000
        package var client = ClientLimits()
    }

    package struct ClientLimits: Sendable, Equatable {
        package var by = Key.address
        package var rate: Rate?
        package var burst: Int?
        package var connections: Int?
        package var requests: Int?
        package var ipv6Prefix = IPAddress.clientPrefix

        package enum Key: Sendable, Equatable {
            case address
            case header(String)
        }
    }

    /// A number of requests per unit of time.
    package struct Rate: Sendable, Equatable {
        package let count: Int
        package let unit: Unit

        package enum Unit: String, Sendable, CaseIterable {
            case second = "s"
            case minute = "m"
            case hour = "h"

            var seconds: Int {
                switch self {
                case .second: 1
                case .minute: 60
                case .hour: 3600
                }
            }
        }

        /// Parses `100/s`, `600/m` or `1000/h`.
        init?(_ text: String) {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 2, let unit = Unit(rawValue: String(parts[1])),
                let count = Quantity.count.value(of: String(parts[0]), in: 1...1_000_000)
            else { return nil }
            (self.count, self.unit) = (count, unit)
        }

        /// The nanoseconds between two requests.
        var interval: Int64 { Int64(unit.seconds) * 1_000_000_000 / Int64(count) }
        /// The number of requests per second, at least one.
        var countPerSecond: Int { max(1, count / unit.seconds) }
    }
}

extension SettingType where Value == Configuration.Rate {
    /// A number of requests per unit of time.
    static let rate = scalar(
        "a rate from 1 to 1000000, such as 100/s, 600/m or 1000/h",
        write: { "\($0.count)/\($0.unit.rawValue)" },
        read: { Configuration.Rate($0) })
}

extension SettingType where Value == Configuration.ClientLimits.Key {
    static let clientKey = scalar(
        "address or header:NAME",
        write: { key in
            switch key {
            case .address: "address"
            case .header(let name): "header:\(name)"
            }
        },
        read: { text in
            if text == "address" { return .address }
            guard text.hasPrefix("header:"), text[text.index(text.startIndex, offsetBy: 7)...].isToken else {
                return nil
            }
            return .header(String(text.dropFirst(7)))
        })
}

extension Settings {
    static let limits: [Setting<Configuration.Limits>] = [
        .value(
            "request_head", \.requestHead, .size(1 << 10...mebibyte), "The maximum size of a request head."),
        .value(
            "response_head", \.responseHead, .size(1 << 10...mebibyte),
            "The maximum size of the head of an upstream's response. A larger one becomes a 502."),
        .value("request_body", \.requestBody, .size(0...tebibyte), "The maximum size of a request body."),
        .value(
            "connections", \.connections, .count(1...1_000_000),
            "The maximum number of client connections."),
        .value(
            "head_timeout", \.headTimeout, .duration(1...10 * minute),
            "Time-out for the complete request head."),
        .value(
            "keepalive_timeout", \.keepAliveTimeout, .duration(1...day),
            "Time-out for idle connections of clients."),
        .value(
            "keepalive_requests", \.keepAliveRequests, .count(1...1_000_000_000),
            """
            The number of requests after which a client's connection ends in order: over HTTP/1.1 with Connection: close, over \
            HTTP/2 with GOAWAY, in two steps so that no request is lost.
            """),
        .value(
            "body_rate", \.bodyRate, .size(0...mebibyte),
            """
            The minimum rate, in bytes per second, at which clients send request bodies and accept responses, and at which \
            upstreams send responses of known length. Connections that are slower for upstream.idle_timeout are closed. 0: only \
            silence counts.
            """),
        .value(
            "tunnel_timeout", \.tunnelTimeout, .duration(1...day),
            "Time-out for a silent upgraded connection, such as a WebSocket."),
        .value(
            "drain_timeout", \.drainTimeout, .duration(0...day),
            "The time for requests in progress to finish after SIGTERM. A second SIGTERM ends them at once."),
        .section(
            "client", \.client, client,
            """
            Limits per client. A client is the address that trusted_proxies report, or else the peer's address. Trusted peers \
            that report no client are not limited.
            """),
    ]

    static let client: [Setting<Configuration.ClientLimits>] = [
        .value(
            "rate", \.rate, .optional(.rate), example: "100/s",
            """
            The maximum request rate. Requests beyond it get a 429 with Retry-After. Without it, the rate is not limited.
            """),
        .value(
            "burst", \.burst, .optional(.count(1...1_000_000)), example: "100",
            "The number of requests that may come at once. The default is the number for one second."),
        .value(
            "by", \.by, .clientKey,
            """
            What the rate applies to. header:NAME is only useful for a field that something verifies, such as an API key. \
            Requests without the field count by address.
            """),
        .value(
            "connections", \.connections, .optional(.count(1...1_000_000)), example: "100",
            """
            The maximum number of connections per address. Further ones get a 503. Connections of trusted peers do not count.
            """),
        .value(
            "requests", \.requests, .optional(.count(1...1_000_000)), example: "100",
            """
            The maximum number of requests per address that are at upstreams at a time. Further ones wait for \
            upstream.queue_timeout, then get a 503. Without it, a client may have an eighth of the requests that the \
            descriptor limit still allows. Requests of trusted peers that report no client do not count.
            """),
        .value(
            "ipv6_prefix", \.ipv6Prefix, .count(16...128),
            "The prefix length that makes IPv6 addresses one client: the network of a household or a server, which is up to a /48."
        ),
    ]
}
