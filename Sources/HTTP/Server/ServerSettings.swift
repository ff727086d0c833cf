/// The limits of a server for its clients, the same for every connection.
///
/// Times are in milliseconds.
package struct ServerSettings: Sendable {
    package var limits = MessageLimits()
    /// From the first byte of a head to its last, and from the accept to the first byte.
    package var headTimeout: Int64 = 10_000
    /// From the end of a response to the next request.
    package var keepAliveTimeout: Int64 = 75_000
    /// Between two bytes of a body, in either direction.
    package var idleTimeout: Int64 = 60_000
    /// Bytes per second of a body, in either direction, below which `idleTimeout` runs out; 0 for no minimum.
    package var bodyRate = 240
    /// The silence in both directions after which a tunnel ends.
    package var tunnelTimeout: Int64 = 600_000
    /// Returns true for peers that must begin with a PROXY protocol header; others are refused.
    ///
    /// Nil if none is expected.
    package var acceptsProxyHeader: (@Sendable (Endpoint?) -> Bool)?
    /// The versions of HTTP that clients may choose; over TLS, by ALPN.
    package var protocols = HTTPProtocols.all
    /// The number of requests of one connection before it ends in order.
    package var requestsMax: Int32 = 1_000_000
    /// The TLS of the listener; nil for plain connections.
    package var tls: TLSServer?
    /// The request field for the subject of the client's certificate; nil for none.
    package var clientSubjectField: HeaderName?
    /// The Strict-Transport-Security field of every response over TLS (RFC 6797); nil for none.
    package var strictTransportSecurity: String?
    /// The Alt-Svc field of responses (RFC 7838); nil for none.
    package var alternativeServices: String?
    /// The TLS port to which plain requests are redirected; nil if they are served.
    package var redirectPort: UInt16?
    /// Seconds of silence before the kernel probes the peer; 0 for never.
    package var probeSeconds = 60
    package var connectionsMax = 10_000
    /// The limit per client; nil for none.
    package var clientLimit: ClientConnectionLimit?

    /// The wait of an idle connection for its last request, or of a new one for its first, while the server
    /// drains.
    static let lastRequestGrace: Int64 = 2_000

    package init() {}

    var pace: Pace.Limits { Pace.Limits(idleTimeout: idleTimeout, bytesPerSecond: bodyRate) }
}
