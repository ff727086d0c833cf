/// What a client allows an upstream.
///
/// Times in milliseconds.
package struct ClientSettings: Sendable {
    package var limits = MessageLimits()
    package var connectTimeout: Int64 = 2_000
    /// From the end of the request to the end of the response's head.
    package var responseTimeout: Int64 = 30_000
    /// Between two bytes, either way.
    package var idleTimeout: Int64 = 60_000
    /// Bytes in a second of an answer whose length is known, below which `idleTimeout` runs out as if none came; 0 for any.
    package var bodyRate = 240
    /// How long an idle connection is kept.
    package var keepAliveTimeout: Int64 = 60_000
    /// Idle connections kept by one loop.
    package var keepAliveMax = 128
    /// What https targets are spoken to with; without it they are out of reach.
    package var tls: TLSClientContext?
    /// Interim responses before the final one (a bound: they are free to send).
    package var interimMax = 32

    package init() {}
}
