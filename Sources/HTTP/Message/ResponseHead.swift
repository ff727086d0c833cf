/// The head of a response.
package struct ResponseHead: Sendable {
    /// The status code.
    package var status: Status
    /// The version that the server speaks.
    package var version: Version
    /// The phrase as received; nil stands for the registered one.
    package var reason: [UInt8]?
    /// The fields.
    package var headers: Headers

    /// Puts a head together.
    package init(
        status: Status, version: Version = .http11, reason: [UInt8]? = nil, headers: Headers = Headers()
    ) {
        self.status = status
        self.version = version
        self.reason = reason
        self.headers = headers
    }
}
