/// The head of a response.
package struct ResponseHead: Sendable {
    package var status: Status
    /// The server's version.
    package var version: Version
    /// The phrase as received; nil for the registered one.
    package var reason: [UInt8]?
    package var headers: Headers

    package init(
        status: Status, version: Version = .http11, reason: [UInt8]? = nil, headers: Headers = Headers()
    ) {
        self.status = status
        self.version = version
        self.reason = reason
        self.headers = headers
    }
}
