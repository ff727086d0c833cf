/// The facts about the client, which a stream takes from its connection.
extension HTTP2Stream {
    var peer: Endpoint? { session.peer }
    var isPeerTLS: Bool? { session.isPeerTLS }
    var tls: TLSFacts? { session.tls }
    var isEarly: Bool { session.handshake != nil }
    var core: EventLoop.Core { session.core }
    var redirectPort: UInt16? { session.settings.redirectPort }
    var clientSubjectField: HeaderName? { session.settings.clientSubjectField }
    var alternativeServices: String? { session.settings.alternativeServices }
    var attachment: AnyObject? {
        get { session.attachment }
        set { session.attachment = newValue }
    }
}
