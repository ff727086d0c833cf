/// The facts of a client's connection, whatever its version of HTTP, and the object that the application keeps with it.
///
/// Confined to its loop.
package final class ConnectionFacts {
    /// The client's address, behind a proxy with the PROXY protocol that of its client; nil when that is not known.
    package let peer: Endpoint?
    /// True if the client's connection is TLS, here or by a PROXY header; nil where neither tells.
    package let isPeerTLS: Bool?
    /// Facts of the TLS session; nil without TLS.
    package let tls: TLSFacts?
    /// The port to which plain requests are redirected; nil if they are served.
    package let redirectPort: UInt16?
    package let clientSubjectField: HeaderName?
    /// The Alt-Svc field for responses that have none; nil for none.
    package let alternativeServices: String?
    /// An object that the application keeps from one request of the connection to the next.
    package var attachment: AnyObject?
    /// The rest of the TLS handshake, if requests came before it (RFC 8446 section 2.3); nil once it is complete.
    var handshake: PendingHandshake?

    /// True while the TLS handshake is not complete, so that the request may be a replay (RFC 8446 section 8).
    package var isEarly: Bool { handshake != nil }

    init(
        peer: Endpoint?, isPeerTLS: Bool? = nil, tls: TLSFacts? = nil, _ settings: ServerSettings,
        _ core: EventLoop.Core
    ) {
        (self.peer, self.tls) = (peer, tls)
        self.isPeerTLS = tls == nil ? isPeerTLS : true
        redirectPort = settings.redirectPort
        clientSubjectField = settings.clientSubjectField
        alternativeServices = settings.alternativeServices
        if tls?.isEarly == true {
            handshake = PendingHandshake(deadline: core.now + settings.headTimeout)
        }
    }
}
