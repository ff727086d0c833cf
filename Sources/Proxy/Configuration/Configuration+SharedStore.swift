internal import HTTP
internal import Primitives
internal import Redis

extension RedisSettings {
    /// The part that the URL tells.
    fileprivate var url: RedisSettings {
        get { self }
        set {
            (address, usesTLS, user) = (newValue.address, newValue.usesTLS, newValue.user)
            (password, database) = (newValue.password, newValue.database)
        }
    }
}

extension Settings {
    static let sharedStore: [Setting<RedisSettings>] = [
        .value(
            "url", \.url, .redisURL, required: true, example: "redis://127.0.0.1:6379",
            onReload: .atNextStart,
            """
            The server: Redis 7 or Valkey 8, not a Sentinel and not a cluster. rediss:// speaks TLS. The user needs the \
            rights that deploy/FLEET.md lists.
            """),
        .value(
            "password_file", \.passwordFile, .optional(.path), example: "/etc/dictum/redis.password",
            onReload: .atNextStart,
            """
            The file whose first line is the password, in place of one in the URL. Dictum reads it again for each \
            connection.
            """),
        .value(
            "ca", \.tls.authority, .optional(.path), example: "/etc/dictum/tls/redis-ca.pem",
            onReload: .atNextStart,
            "The trusted authorities for rediss://, in PEM. Without it, those of the system are trusted."),
        .value(
            "key_prefix", \.keyPrefix, .keyPrefix, onReload: .atNextStart,
            """
            The beginning of every key, before the version of the key schema. Fleets that share nothing but the server \
            need different ones.
            """),
        .value(
            "timeout", \.timeout, .duration(1...1_000), onReload: .atNextStart,
            """
            The longest time that a response waits for the server. Dictum waits four times as long as 99 % of the recent \
            replies took, at least 5 ms; then the response goes out without that dictionary.
            """),
    ]
}

extension SettingType where Value == RedisSettings {
    /// The URL of a Redis or Valkey server; error texts never quote it, since it may have a password.
    static let redisURL = parsed(
        RedisSettings.urlExpectation, write: { $0.text },
        redact: { server in
            let address = server.text
            guard server.user != nil || server.password != nil,
                let start = address.firstRange(of: "://")?.upperBound
            else { return address }
            return address[..<start] + SettingValue.redacted + "@" + address[start...]
        },
        parse: { text throws(SettingFault) in
            do throws(RedisURLMistake) { return try RedisSettings(url: text) } catch {
                throw .unquoted(error.text)
            }
        })
}

extension SettingType where Value == String {
    static let keyPrefix = word("1 to 64 letters, digits, or any of -_.:") { text in
        1...64 ~= text.utf8.count
            && text.utf8.allSatisfy { ASCII.isAlphanumeric($0) || "-_.:".utf8.contains($0) }
    }
}
