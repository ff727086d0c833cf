package import Dictionaries
internal import HTTP

/// All settings with their defaults; the table `Settings` reads them.
///
/// Durations are in milliseconds, sizes in bytes.
package struct Configuration: Sendable {
    /// The addresses that accept connections.
    package var listeners = [Listener.standard]
    /// The peers whose statements about the client are trusted.
    package var trustedProxies: [TrustedNetwork] = [.loopback, .unix]
    /// The rule that decides if the client's transport is secure (RFC 9842 section 8).
    package var secureTransport = SecureTransport.auto
    /// The upstreams and how to reach them.
    package var upstream = Upstream()
    /// The store of dictionaries.
    package var store = Store()
    /// The rules of compression.
    package var compression = Compression()
    /// False if no dictionary is used or offered.
    package var dictionariesOn = true
    /// The routes; the first match counts.
    package var routes: [RouteConfiguration] = [.implied]
    /// The authorities that have dictionaries, possibly as patterns; empty for all.
    package var authorities: [String] = []
    /// The request fields that make a response personal; a `*` at either end stands for any characters.
    package var personalFields = [
        // Credentials. Authorization and Cookie have rules of their own.
        "proxy-authorization", "*-authorization", "*token*", "*session*", "*api-key*", "*apikey*", "*secret*",
        "*password*", "*credential*", "*jwt*", "*-assertion", "*-signature", "*subscription-key",
        "x-functions-key", "dpop",
        // Fields in which gateways and identity proxies describe the user.
        "x-auth-*", "x-authenticated-*", "x-forwarded-user", "x-forwarded-email", "x-forwarded-groups",
        "x-forwarded-preferred-username", "x-forwarded-access-*", "cf-access-*", "x-amzn-oidc-*",
        "x-ms-client-principal*", "x-goog-iap-*", "x-goog-authenticated-user-*", "x-webauth-*", "oidc-*",
        "oidc_*", "remote-*", "x-remote-*", "x-user*", "*-userid", "*-user-id", "*username*",
        // Client certificates.
        "client-cert*", "*client-cert*", "*ssl-client-*",
    ]
    /// The query names that make a response personal; a `*` at either end stands for any characters.
    package var personalQuery = [
        "*token", "*password*", "passwd", "pwd", "pass", "code", "otp", "*jwt", "sid", "*session*",
        "*secret*", "*api_key*", "*apikey*", "*api-key*", "*access_key*", "*accesskey*", "key", "sig",
        "*signature", "hmac", "auth", "*authorization", "*credential*", "ticket", "*assertion",
        "samlresponse",
    ]
    /// The use of personal responses.
    package var personal = RoutePolicy.PersonalUse.capability
    /// The cookies that do not make a response personal.
    package var ignoreCookies = IgnoredCookies.defaults
    /// The field that carries a request's identifier, also in the log; nil for none.
    package var requestID: String? = "X-Request-ID"
    /// The limits for clients.
    package var limits = Limits()
    /// The admin listener; nil for none.
    package var admin: Admin? = Admin()
    /// The rules of logging.
    package var log = Log()
    /// True if every response carries `Dictum-Explain`.
    package var explain = false

    /// Settings of the file that are valid but probably a mistake.
    package var warnings: [ConfigurationError.Problem] = []

    /// The defaults.
    package init() {}
}

extension Configuration {
    /// A listener.
    package struct Listener: Sendable, Equatable {
        package var address: ListenAddress

        /// True if connections begin with a PROXY protocol header.
        package var proxyProtocol = false
        /// The TLS settings; nil for plain HTTP.
        package var tls: TLS?
        /// The https port that plain requests are redirected to; nil for no redirect.
        package var redirectPort: UInt16?
        /// The Strict-Transport-Security of responses over TLS.
        package var strictTransportSecurity: String?

        /// True if another process may listen at the same address.
        package var reusesPort = false
        /// True for Multipath TCP (RFC 8684).
        package var isMultipath = false
        /// The silence after which the kernel probes a connection; 0 for no probes.
        package var keepAlive = 60_000
        /// The number of pending TCP Fast Open connections (RFC 7413).
        package var fastOpenQueue = 0

        /// Makes a listener.
        package init(address: ListenAddress) { self.address = address }

        /// The default listener.
        static let standard = Listener(address: .tcp(host: "127.0.0.1", port: 8080))
    }

    /// The admin listener.
    package struct Admin: Sendable, Equatable {
        /// The address; nil for no listener.
        package var address: ListenAddress?
        /// The token that permits changes from other machines or under other host names.
        package var token: String?

        /// Makes an admin listener, by default at its default address.
        package init(address: ListenAddress? = .tcp(host: "127.0.0.1", port: 9901)) { self.address = address }
    }

    /// A rule that decides if the client's transport is secure.
    package enum SecureTransport: Sendable, Equatable {
        /// Secure is TLS to a listener, https reported by a trusted peer, or a loopback peer that forwards for
        /// nobody.
        case auto
        /// The transport is always secure.
        case assume
        /// The transport is never secure.
        case never
    }

    /// The upstreams and how to reach them.
    package struct Upstream: Sendable, Equatable {
        /// The upstreams; at least one in a configuration that was read.
        package var urls: [UpstreamURL] = []
        /// The TLS settings for https URLs.
        package var tls = UpstreamTLS()
        /// The Accept-Encoding that the upstream gets.
        package var acceptEncoding = AcceptEncodingMode.identity
        /// The time limit for connecting.
        package var connectTimeout = 2_000
        /// The time limit for the whole response head.
        package var responseTimeout = 30_000
        /// The time limit between two bytes of a body.
        package var idleTimeout = 60_000
        /// The number of idle connections to keep.
        package var keepAlive = 256
        /// The distribution of requests among several upstreams.
        package var balance = Balance.roundRobin
        /// The number of failures in a row that eject an upstream; 0 to never eject.
        package var maxFailures = 3
        /// The first ejection time.
        package var failTimeout = 10_000
        /// The maximum number of retries per request.
        package var retries = 2
        /// The time between two resolutions of a name.
        package var resolveInterval = 30_000
        /// The health checks; nil for none.
        package var health: Health?

        /// A distribution of requests among several upstreams.
        package enum Balance: Sendable, Equatable {
            /// Each upstream in turn.
            case roundRobin
            /// The upstream with the fewest requests in progress.
            case leastConnections
        }

        /// A request that is regularly sent to each upstream.
        package struct Health: Sendable, Equatable {
            package var path = "/"
            /// The time between two checks.
            package var interval = 10_000
            /// The time limit for connecting and the whole head.
            package var timeout = 2_000
            /// The statuses of a healthy upstream.
            package var status = ExpectedStatus.success
        }

        /// The Accept-Encoding that the upstream gets.
        package enum AcceptEncodingMode: Sendable, Equatable {
            /// Identity only.
            case identity
            /// The client's, without dcz and dcb.
            case pass
        }
    }

    /// The store of dictionaries.
    package struct Store: Sendable, Equatable {
        /// The database file, or `:memory:`.
        package var path = "./dictum.sqlite"
        /// The size of bodies, rows and log together.
        package var maxSize = 1 << 30
        /// The maximum number of chains.
        package var maxChains = 100_000
        /// The memory for hot bodies, copies being admitted, and the index.
        package var memory = 256 << 20
        /// The bytes that admissions may write per second.
        package var writeRate = 16 << 20
        /// The key file; nil for the default beside the database.
        package var keyFile: String?
        /// The part of `maxSize` for private versions; nil for a quarter.
        package var privateMaxSize: Int?

        /// The key file in use; nil for a store in memory, whose key is not kept.
        package var keyFileInUse: String? { keyFile ?? (path == ":memory:" ? nil : path + ".key") }
    }

    /// The rules of compression.
    package struct Compression: Sendable {
        /// The codings in the server's order of preference.
        package var codings = [ContentCoding.dcz, .dcb, .zstd, .br, .gzip]
        /// Fixed levels for codings without a dictionary; the others follow the length of the body.
        package var levels = CodingLevels()
        /// The size of the smallest body to compress.
        package var minSize = 256
        /// The media types to compress.
        package var typeNames = [
            "application/json", "application/*+json", "application/xml", "application/*+xml", "text/*",
            "application/javascript", "application/wasm", "image/svg+xml",
        ]
        /// The memory for live encoders and held bodies together.
        package var memory = 512 << 20
        /// The memory for indexed dictionaries, including their bodies.
        package var preparedMemory = 256 << 20
        /// The memory for cached deltas.
        package var deltaMemory = 256 << 20
        /// The choice of deltas to decode again before they are sent.
        package var verify = Verification.Mode.sampled

        /// The codings in order, and the lengths below which gzip comes first.
        var preference: CodingPreference { CodingPreference(codings, levels: levels) }

        /// The media types in their matching form; keep the result, since each call rebuilds it.
        package var types: MediaTypes { MediaTypes(typeNames) }
    }

    /// The limits for clients.
    package struct Limits: Sendable, Equatable {
        /// The maximum size of a request head.
        package var requestHead = 32 << 10
        /// The maximum size of a request body.
        package var requestBody = 64 << 20
        /// The maximum number of client connections.
        package var connections = 10_000
        /// The time limit from the first byte of a connection or request to the whole head.
        package var headTimeout = 10_000
        /// The time to keep an idle connection.
        package var keepAliveTimeout = 75_000
        /// The body rate, in bytes per second, below which the idle time-out runs.
        package var bodyRate = 240
        /// The maximum silence of an upgraded connection.
        package var tunnelTimeout = 600_000
        /// The time for requests in progress to finish when the program ends.
        package var drainTimeout = 10_000
        /// The limits per client.
        package var client = ClientLimits()
    }

    /// The rules of logging.
    package struct Log: Sendable, Equatable {
        /// The minimum level.
        package var level = Level.info
        /// The form of each line.
        package var format = Format.auto
        /// The share of requests in the access log, from 0 to 1.
        package var accessShare = 1.0

        package enum Level: Sendable, Equatable {
            case debug, info, warning, error
        }

        package enum Format: Sendable, Equatable {
            /// Text on a terminal, else JSON.
            case auto
            case text, json
        }
    }
}
