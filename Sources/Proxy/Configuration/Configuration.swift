package import Dictionaries
internal import HTTP

/// Everything an operator can set, with the defaults; `Settings` is the table that reads it.
///
/// Durations are in milliseconds, sizes in bytes.
package struct Configuration: Sendable {
    /// Where connections are accepted.
    package var listeners = [Listener.standard]
    /// The peers whose word about the client counts.
    package var trustedProxies: [TrustedNetwork] = [.loopback, .unix]
    /// How it is known that the client's transport is secure (RFC 9842 section 8).
    package var secureTransport = SecureTransport.auto
    /// Where answers come from.
    package var upstream = Upstream()
    /// Where dictionaries are kept.
    package var store = Store()
    /// What is compressed, and how.
    package var compression = Compression()
    /// Whether dictionaries are used and offered at all.
    package var dictionariesOn = true
    /// The routes, of which the first that matches counts.
    package var routes: [RouteConfiguration] = [.implied]
    /// The authorities whose responses become dictionaries, patterns among them; none: all.
    package var authorities: [String] = []
    /// The request fields that make a response personal; a `*` at either end stands for any characters.
    package var personalFields = [
        // Credentials. Authorization and Cookie have rules of their own.
        "proxy-authorization", "*-authorization", "*token*", "*session*", "*api-key*", "*apikey*", "*secret*",
        "*password*", "*credential*", "*jwt*", "*-assertion", "*-signature", "*subscription-key",
        "x-functions-key", "dpop",
        // What gateways and identity proxies say of a user.
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
    /// What becomes of personal responses.
    package var personal = RoutePolicy.PersonalUse.capability
    /// The cookies of requests that do not make a response personal.
    package var ignoreCookies = IgnoredCookies.defaults
    /// The field that identifies a request to the upstream and in the log; nil for none.
    package var requestID: String? = "X-Request-ID"
    /// What a client may ask for.
    package var limits = Limits()
    /// Where health and metrics are served, if anywhere.
    package var admin: Admin? = Admin()
    /// What is logged, and how.
    package var log = Log()
    /// Whether every answer carries `Dictum-Explain`.
    package var explain = false

    /// What is valid in the file that it was read from, and cannot be meant.
    package var warnings: [ConfigurationError.Problem] = []

    /// The defaults.
    package init() {}
}

extension Configuration {
    /// One place where connections are accepted.
    package struct Listener: Sendable, Equatable {
        /// Where it listens.
        package var address: ListenAddress

        /// Whether connections begin with a PROXY protocol header.
        package var proxyProtocol = false
        /// How it speaks TLS; nil where it does not.
        package var tls: TLS?
        /// The port to which plain requests are sent on by https; nil where they are answered.
        package var redirectPort: UInt16?
        /// The Strict-Transport-Security of its answers by TLS.
        package var strictTransportSecurity: String?

        /// Whether another process may listen at the same address beside this one.
        package var reusesPort = false
        /// Whether its connections may use several paths (RFC 8684).
        package var isMultipath = false
        /// For how long a connection may be silent before the kernel asks for its peer; 0: for ever.
        package var keepAlive = 60_000
        /// How many connections may bring data before their handshake is whole (RFC 7413).
        package var fastOpenQueue = 0

        /// Makes a listener.
        package init(address: ListenAddress) { self.address = address }

        /// Where clients are served unless something else is said.
        static let standard = Listener(address: .tcp(host: "127.0.0.1", port: 8080))
    }

    /// Where health and metrics are served.
    package struct Admin: Sendable, Equatable {
        /// Where it listens; nil where it does not.
        package var address: ListenAddress?
        /// What allows changes from other machines, or under other names.
        package var token: String?

        /// An admin listener at the usual address, or at another.
        package init(address: ListenAddress? = .tcp(host: "127.0.0.1", port: 9901)) { self.address = address }
    }

    /// How it is known that the client's transport is secure.
    package enum SecureTransport: Sendable, Equatable {
        /// By TLS here, by the word of a trusted peer, or by a loopback peer that forwards for nobody.
        case auto
        /// It always is.
        case assume
        /// It never is.
        case never
    }

    /// Where answers come from.
    package struct Upstream: Sendable, Equatable {
        /// The upstreams; in a configuration that was read, at least one.
        package var urls: [UpstreamURL] = []
        /// How it is spoken to by TLS, where its URL says https.
        package var tls = UpstreamTLS()
        /// What the upstream is told about codings.
        package var acceptEncoding = AcceptEncoding.identity
        /// The time to connect.
        package var connectTimeout = 2_000
        /// The time to the whole head.
        package var responseTimeout = 30_000
        /// The time between two bytes.
        package var idleTimeout = 60_000
        /// How many idle connections are kept.
        package var keepAlive = 256
        /// How requests are spread over several.
        package var balance = Balance.roundRobin
        /// After so many failures in a row an upstream is passed over; 0: never.
        package var maxFailures = 3
        /// For so long at first.
        package var failTimeout = 10_000
        /// How often a request is sent once more, at most.
        package var retries = 2
        /// How often names are resolved again.
        package var resolveInterval = 30_000
        /// How it is found out whether they are well, besides by the requests.
        package var health: Health?

        /// How requests are spread over several upstreams.
        package enum Balance: Sendable, Equatable {
            /// To one after the other.
            case roundRobin
            /// To the one with the fewest under way.
            case leastConnections
        }

        /// A request that is sent to every upstream again and again.
        package struct Health: Sendable, Equatable {
            /// Its target.
            package var path = "/"
            /// The time from one to the next.
            package var interval = 10_000
            /// The time to connect and to the whole head.
            package var timeout = 2_000
            /// The statuses that are as they should be.
            package var status = ExpectedStatus.success
        }

        /// What the upstream is told about codings.
        package enum AcceptEncoding: Sendable, Equatable {
            /// Nothing but identity.
            case identity
            /// What the client said, without dcz and dcb.
            case pass
        }
    }

    /// Where dictionaries are kept.
    package struct Store: Sendable, Equatable {
        /// The file of the database, or `:memory:`.
        package var path = "./dictum.sqlite"
        /// Bodies, rows and log together.
        package var maxSize = 1 << 30
        /// How many chains are kept.
        package var maxChains = 100_000
        /// Hot bodies and copies being admitted.
        package var memory = 256 << 20
        /// What admissions write in a second.
        package var writeRate = 16 << 20
        /// The file with the key of private routes; nil: beside the database.
        package var keyFile: String?
        /// What versions of private routes take of `maxSize`; nil: a quarter.
        package var privateMaxSize: Int?

        /// The file that is used for the key, if it is one: a store in memory without a file named has a key of its own.
        package var keyFileInUse: String? { keyFile ?? (path == ":memory:" ? nil : path + ".key") }
    }

    /// What is compressed, and how.
    package struct Compression: Sendable {
        /// The codings, in the server's preference among equals.
        package var codings = [ContentCoding.dcz, .dcb, .zstd, .br, .gzip]
        /// The levels of the codings without a dictionary, where they are not to follow the length of the body.
        package var levels = CodingLevels()
        /// The smallest body that is compressed.
        package var minSize = 256
        /// The media types that are compressed.
        package var typeNames = [
            "application/json", "application/*+json", "application/xml", "application/*+xml", "text/*",
            "application/javascript", "application/wasm", "image/svg+xml",
        ]
        /// What live encoders and held bodies may take together.
        package var memory = 512 << 20
        /// What indexed dictionaries may take, the bodies they refer to included.
        package var preparedMemory = 256 << 20
        /// What deltas that were made may take.
        package var deltaMemory = 256 << 20
        /// Which deltas are decoded again before they are sent.
        package var verify = Verification.Mode.sampled

        /// The codings and when gzip comes before them.
        var preference: CodingPreference { CodingPreference(codings, levels: levels) }

        /// The media types in their matching form; made anew each time, so keep it.
        package var types: MediaTypes { MediaTypes(typeNames) }
    }

    /// What a client may ask for.
    package struct Limits: Sendable, Equatable {
        /// The bytes of a request's head.
        package var requestHead = 32 << 10
        /// The bytes of a request's body.
        package var requestBody = 64 << 20
        /// The clients' connections at a time.
        package var connections = 10_000
        /// The time from a connection's or request's first byte to the whole head.
        package var headTimeout = 10_000
        /// How long an idle connection is kept.
        package var keepAliveTimeout = 75_000
        /// The bytes of a body in a second below which the idle timeout runs out.
        package var bodyRate = 240
        /// How long an upgraded connection may be silent.
        package var tunnelTimeout = 600_000
        /// How long requests under way may take to end when the program does.
        package var drainTimeout = 10_000
        /// What each client may ask for.
        package var client = ClientLimits()
    }

    /// What is logged, and how.
    package struct Log: Sendable, Equatable {
        /// The least level that is logged.
        package var level = Level.info
        /// The form of each line.
        package var format = Format.auto
        /// The share of requests that are logged, from 0 to 1.
        package var accessShare = 1.0

        /// The least level that is logged.
        package enum Level: Sendable, Equatable {
            case debug, info, warning, error
        }

        /// The form of each line.
        package enum Format: Sendable, Equatable {
            /// Text on a terminal, else JSON.
            case auto
            case text, json
        }
    }
}
