internal import HTTP

/// A whole answer as it came: its body still coded.
struct FetchAnswer: Sendable {
    /// Interim answers (1xx), in order.
    var interim: [ResponseHead] = []
    let head: ResponseHead
    /// The coded body, without the framing round it.
    let body: [UInt8]
    /// The public key of the server's certificate (SubjectPublicKeyInfo in DER); nil without TLS.
    var serverKey: [UInt8]?
    /// When it was whole, in seconds since 1970.
    let receivedAt: Int64
}
