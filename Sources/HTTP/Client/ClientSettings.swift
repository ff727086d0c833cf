/// The limits of the proxy for its upstreams.
///
/// Times are in milliseconds.
package struct ClientSettings: Sendable {
    package var limits = MessageLimits()
    package var connectTimeout: Int64 = 2_000
    /// From the end of the request to the end of the response's head.
    package var responseTimeout: Int64 = 30_000
    /// Between two bytes, in either direction.
    package var idleTimeout: Int64 = 60_000
    /// Bytes per second of a response with a known length, below which `idleTimeout` runs out; 0 for no
    /// minimum.
    package var bodyRate = 240
    /// The time for which an idle connection is kept.
    package var keepAliveTimeout: Int64 = 60_000
    package var keepAliveMax = 128
    /// Counts the idle connections of all pools, since each of them takes a descriptor; nil for no limit.
    package var idleConnections: ConnectionCount?
    package var idleConnectionsMax = Int.max
    /// The TLS for https targets; nil makes them unreachable.
    package var tls: TLSClientContext?
    /// The maximum number of interim responses before the final one.
    package var interimMax = 32

    package init() {}

    var pace: Pace.Limits { Pace.Limits(idleTimeout: idleTimeout, bytesPerSecond: bodyRate) }
}
