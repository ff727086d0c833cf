/// What a connection to an upstream must remember of the request under way.
struct ClientRequest: Sendable {
    var method = Method.get
    /// How its body goes out.
    var framing = BodyFraming.none
    /// Whether it asks to change the protocol.
    var asksUpgrade = false
    /// Whether it says that it is the last.
    var isLast = false

    /// Nothing yet.
    init() {}

    init(_ head: borrowing RequestHead, framing: BodyFraming) {
        method = head.method
        self.framing = framing
        asksUpgrade = head.headers.contains(.upgrade)
        isLast = head.headers.containsToken(.connection, "close")
    }
}
