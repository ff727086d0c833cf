package import Redis

extension RedisCommand {
    /// Sets a key for so many seconds, whether it exists or not.
    package static func set(_ key: [UInt8], to value: [UInt8], seconds: Int) -> RedisCommand {
        RedisCommand("SET", [key, value, Array("EX".utf8), Array("\(seconds)".utf8)])
    }
}
