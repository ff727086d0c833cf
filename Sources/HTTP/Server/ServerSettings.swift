/// What a server allows its clients, the same for every connection.
///
/// Times in milliseconds.
package struct ServerSettings: Sendable {
    package var limits = MessageLimits()
    /// From the first byte of a head to its last, and from accepting a connection to its first byte.
    package var headTimeout: Int64 = 10_000
    /// From the end of an answer to the next request.
    package var keepAliveTimeout: Int64 = 75_000
    /// Between two bytes of a body, either way.
    package var idleTimeout: Int64 = 60_000
    /// Bytes of a body in a second, either way, below which `idleTimeout` runs out as if none came; 0 for any.
    package var bodyRate = 240
    /// For how long a connection that has changed its protocol may be silent both ways.
    package var tunnelTimeout: Int64 = 600_000
    /// Who may, and must, begin a connection with a PROXY protocol header; nil where none is expected.
    package var acceptsProxyHeader: (@Sendable (Endpoint?) -> Bool)?
    /// What connections are protected with; nil for plain ones.
    package var tls: TLSServer?
    /// The request field for the subject of the client's certificate; nil for none.
    package var clientSubjectField: HeaderName?
    /// The Strict-Transport-Security of every answer by TLS (RFC 6797); nil for none.
    package var strictTransportSecurity: String?
    /// The port where this server speaks TLS, to which plain requests are sent on; nil where they are answered.
    package var redirectPort: UInt16?
    /// What is set of its sockets.
    package var socket = SocketOptions()
    /// Connections at a time, of all loops together.
    package var connectionsMax = 10_000
    /// Of one client alone; nil: as many as of all.
    package var clientLimit: ClientConnectionLimit?

    /// How long an idle connection may wait with its last request, or a new one with its first, while the server drains.
    static let lastRequestGrace: Int64 = 2_000

    package init() {}
}
