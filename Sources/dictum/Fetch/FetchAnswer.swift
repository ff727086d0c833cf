internal import HTTP

/// A complete response with its body still coded.
struct FetchAnswer: Sendable {
    /// The interim responses (1xx) in their order.
    var interim: [ResponseHead] = []
    let head: ResponseHead
    /// The coded body without its framing.
    let body: [UInt8]
    /// The public key of the server's certificate (SubjectPublicKeyInfo in DER); nil without TLS.
    var serverKey: [UInt8]?
    /// The time at which it was complete, in seconds since 1970.
    let receivedAt: Int64
}
