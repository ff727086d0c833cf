internal import HTTP
internal import Primitives

extension RedisSettings {
    /// The accepted URLs, in the words of error texts.
    package static let urlExpectation =
        "redis://[user[:password]@]host[:port][/database], the same with rediss:// for TLS, or unix:///path[?db=database]"

    /// Parses a URL as Redis's own tools write it; throws a reason that quotes no password.
    package init(url: String) throws(RedisURLMistake) {
        let scheme = url.prefix { $0 != ":" }.lowercased()
        let rest = url.dropFirst(scheme.count + 1)
        guard rest.startIndex > url.startIndex, url.dropFirst(scheme.count).first == ":" else {
            throw .notAURL
        }
        switch scheme {
        case "redis", "rediss", "valkey", "valkeys":
            guard rest.hasPrefix("//") else { throw .notAURL }
            try self.init(authorityAndPath: rest.dropFirst(2))
            usesTLS = scheme.hasSuffix("ss") || scheme == "valkeys"
        case "unix", "redis+unix", "redis-socket": try self.init(socket: rest)
        case let other where other.contains("sentinel"): throw .sentinel
        case let other where other.contains("cluster"): throw .cluster
        default: throw .notAURL
        }
    }

    /// The URL of the address without user and password, for messages and reports.
    package var text: String {
        switch address {
        case .host(let host, let port):
            let authority = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
            return "\(usesTLS ? "rediss" : "redis")://\(authority)/\(database)"
        case .unix(let path):
            return "unix://\(Self.encoded(path))" + (database == 0 ? "" : "?db=\(database)")
        }
    }

    private init(authorityAndPath text: Substring) throws(RedisURLMistake) {
        let authority = text.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let path = text[authority.endIndex...].prefix { $0 != "?" && $0 != "#" }
        let (credentials, place) = Self.split(authority)
        if place.contains(",") { throw .severalHosts }
        guard let (host, port) = Self.hostAndPort(place) else { throw .badHost }
        self.init(address: .host(host, port: port))
        try adopt(credentials)
        guard path.endIndex == text.endIndex else { throw .hasMore }
        let number = path.dropFirst()
        if !number.isEmpty { database = try Self.database(number) }
    }

    private init(socket text: Substring) throws(RedisURLMistake) {
        // unix:/path and unix:///path, and unix://user:password@/path of redis-py.
        var rest = text
        var credentials: Substring?
        if rest.hasPrefix("//") {
            rest = rest.dropFirst(2)
            let authority = rest.prefix { $0 != "/" }
            guard authority.isEmpty || authority.hasSuffix("@") else { throw .badPath }
            credentials = authority.isEmpty ? nil : authority.dropLast()
            rest = rest[authority.endIndex...]
        }
        let encoded = rest.prefix { $0 != "?" }
        let query = rest[encoded.endIndex...].dropFirst()
        guard encoded.hasPrefix("/"), let path = Self.decoded(encoded), path.utf8.count < 108,
            !path.utf8.contains(0)
        else { throw .badPath }
        self.init(address: .unix(path: path))
        try adopt(credentials)
        guard !query.isEmpty else { return }
        guard query.hasPrefix("db=") else { throw .hasMore }
        database = try Self.database(query.dropFirst(3))
    }

    /// Splits credentials off at the last `@`, since passwords are often not encoded.
    private static func split(_ authority: Substring) -> (Substring?, Substring) {
        guard let at = authority.lastIndex(of: "@") else { return (nil, authority) }
        return (authority[..<at], authority[authority.index(after: at)...])
    }

    private mutating func adopt(_ credentials: Substring?) throws(RedisURLMistake) {
        guard let credentials else { return }
        let name = credentials.prefix { $0 != ":" }
        guard let user = Self.decoded(name),
            let secret = Self.decoded(credentials[name.endIndex...].dropFirst())
        else { throw .badCredentials }
        self.user = user.isEmpty ? nil : user
        password = secret.isEmpty ? nil : secret
    }

    private static func hostAndPort(_ text: Substring) -> (String, UInt16)? {
        guard let parts = HostAndPort(text), parts.port != 0 else { return nil }
        return (parts.host, parts.port ?? 6379)
    }

    private static func database(_ text: Substring) throws(RedisURLMistake) -> Int {
        guard let number = Int(text), 0...65_535 ~= number, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 })
        else { throw .badDatabase }
        return number
    }

    /// Encodes all bytes that may mean something in a URL or in YAML.
    private static func encoded(_ path: String) -> String {
        path.utf8.map { byte -> String in
            let isPlain = ASCII.isAlphanumeric(byte) || "/-._~".utf8.contains(byte)
            let digits = String(byte, radix: 16, uppercase: true)
            return isPlain ? String(Unicode.Scalar(byte)) : (byte < 16 ? "%0" : "%") + digits
        }.joined()
    }

    /// Decodes `%XX`; nil for an invalid escape or text.
    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            // A number may have a sign, and an escape may not.
            guard let high = rest.popFirst(), let low = rest.popFirst(),
                Character(Unicode.Scalar(high)).isHexDigit,
                let value = UInt8(String([high, low].span), radix: 16)
            else { return nil }
            bytes.append(value)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

/// A reason why a text is not the URL of a server.
package struct RedisURLMistake: Error, Equatable, Sendable {
    package let text: String

    static let notAURL = Self(text: "not the URL of a Redis or Valkey server")
    static let badHost = Self(text: "the host or the port is invalid")
    static let badPath = Self(text: "the path of the socket is invalid, or longer than 107 bytes")
    static let badDatabase = Self(text: "the database is not a number")
    static let badCredentials = Self(
        text: "the user or the password has an invalid escape; write % as %25")
    static let hasMore = Self(text: "it has more than an address, such as a query")
    static let sentinel = Self(
        text: """
            Sentinel is not supported; name the server itself, or an address that follows the master, such as a virtual \
            IP or HAProxy
            """)
    static let cluster = Self(text: "Redis Cluster is not supported; name a single Redis or Valkey server")
    static let severalHosts = Self(
        text: "several hosts are not supported, nor are Sentinel and Redis Cluster; name one server")
}
