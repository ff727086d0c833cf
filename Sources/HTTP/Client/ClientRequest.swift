/// The facts of the current request that an upstream's connection needs.
struct ClientRequest: Sendable {
    var method = Method.get
    /// The framing of its body.
    var framing = BodyFraming.none
    /// True if it asks for another protocol.
    var asksUpgrade = false
    /// True if it announces the end of the connection.
    var isLast = false

    init() {}

    init(_ head: borrowing RequestHead, framing: BodyFraming) {
        method = head.method
        self.framing = framing
        asksUpgrade = head.headers.contains(.upgrade)
        isLast = head.headers.containsToken(.connection, "close")
    }
}
