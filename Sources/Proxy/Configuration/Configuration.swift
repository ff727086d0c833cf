package import Dictionaries

/// All settings with their defaults; the table `Settings` reads them.
///
/// Durations are in milliseconds, sizes in bytes. What each setting means, its row in `Settings` says.
package struct Configuration: Sendable {
    package var listeners = [Listener.standard]
    package var trustedProxies: [TrustedNetwork] = [.loopback, .unix]
    package var secureTransport = SecureTransport.auto
    /// The upstream of routes that name none, and of requests without a route; without URLs if there is none.
    package var upstream = Upstream()
    package var upstreams: [Upstream] = []
    package var store = Store()
    package var memory = Memory()
    package var compression = Compression()
    package var mode = Mode.live
    package var observe = Observe()
    package var dictionariesOn = true
    /// The routes; the first match counts.
    package var routes: [RouteConfiguration] = [.implied]
    /// The authorities that have dictionaries, possibly as patterns; empty for all.
    package var authorities: [String] = []
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
    package var personalQuery = [
        "*token", "*password*", "passwd", "pwd", "pass", "code", "otp", "*jwt", "sid", "*session*",
        "*secret*", "*api_key*", "*apikey*", "*api-key*", "*access_key*", "*accesskey*", "key", "sig",
        "*signature", "hmac", "auth", "*authorization", "*credential*", "ticket", "*assertion",
        "samlresponse",
    ]
    package var personal = RoutePolicy.PersonalUse.capability
    package var ignoreCookies = IgnoredCookies.defaults
    /// The field that carries a request's identifier, also in the log; nil for none.
    package var requestID: String? = "X-Request-ID"
    package var limits = Limits()
    package var admin: Admin? = Admin()
    package var log = Log()
    /// The comparison with clients that get no dictionaries; nil for none.
    package var experiment: Experiment?
    /// The responses that carry `Server-Timing`; nil for none.
    package var serverTiming: ServerTiming?
    package var explain = false

    /// Settings of the file that are valid but probably a mistake.
    package var warnings: [ConfigurationError.Problem] = []

    package init() {}

    /// A rule that decides if the client's transport is secure.
    package enum SecureTransport: Sendable, Equatable {
        /// Secure is TLS to a listener, https reported by a trusted peer, or a loopback peer without forwarding fields.
        case auto
        case assume
        case never
    }
}
