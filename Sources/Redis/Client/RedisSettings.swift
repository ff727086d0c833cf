package import HTTP

/// The address of a Redis or Valkey server, and how to talk to it.
package struct RedisSettings: Sendable, Equatable {
    package enum Address: Sendable, Hashable {
        case host(String, port: UInt16)
        case unix(path: String)
    }

    package var address: Address
    package var usesTLS = false
    /// The TLS settings; only used with `usesTLS`.
    package var tls = TLSClientSettings()
    /// The user of an ACL; nil for the default user.
    package var user: String?
    /// The password; nil for a server without one.
    package var password: String?
    /// The file that has the password in its first line, in place of `password`; it is read for each connection.
    package var passwordFile: String?
    package var database = 0
    /// The text before every key, without the version of the schema.
    package var keyPrefix = "dictum"
    /// The longest time that a request waits for a reply, in milliseconds.
    package var timeout = 20

    package init(address: Address) {
        self.address = address
    }
}
