internal import Primitives

/// A command in the form of the wire: an array of bulk strings.
package struct RedisCommand: Sendable, Equatable {
    package let bytes: [UInt8]
    package let name: String

    package init(_ name: String, _ arguments: [[UInt8]] = []) {
        self.name = name
        var bytes: [UInt8] = []
        bytes.reserveCapacity(arguments.reduce(32) { $0 + $1.count + 16 })
        bytes.append(UInt8(ascii: "*"))
        bytes.append(decimal: UInt64(arguments.count + 1))
        bytes.append("\r\n")
        Self.append(Array(name.utf8), to: &bytes)
        for argument in arguments { Self.append(argument, to: &bytes) }
        self.bytes = bytes
    }

    package init(_ name: String, _ arguments: String...) {
        self.init(name, arguments.map { Array($0.utf8) })
    }

    private static func append(_ argument: [UInt8], to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "$"))
        bytes.append(decimal: UInt64(argument.count))
        bytes.append("\r\n")
        bytes.append(argument.span)
        bytes.append("\r\n")
    }

    package static func get(_ key: [UInt8]) -> RedisCommand { RedisCommand("GET", [key]) }

    package static func getAll(_ keys: [[UInt8]]) -> RedisCommand { RedisCommand("MGET", keys) }

    /// Sets a key that does not exist yet, for so many seconds; the reply is null if it exists.
    package static func setIfAbsent(_ key: [UInt8], to value: [UInt8], seconds: Int) -> RedisCommand {
        RedisCommand("SET", [key, value, Array("NX".utf8), Array("EX".utf8), Array("\(seconds)".utf8)])
    }

    package static func expire(_ key: [UInt8], seconds: Int) -> RedisCommand {
        RedisCommand("EXPIRE", [key, Array("\(seconds)".utf8)])
    }

    package static func delete(_ keys: [[UInt8]]) -> RedisCommand { RedisCommand("DEL", keys) }

    /// Appends an entry to a stream, whose length is trimmed to about `lengthMax` entries.
    package static func append(
        to stream: [UInt8], _ fields: [(name: [UInt8], value: [UInt8])], lengthMax: Int
    ) -> RedisCommand {
        let options = ["MAXLEN", "~", "\(lengthMax)", "*"].map { Array($0.utf8) }
        return RedisCommand("XADD", [stream] + options + fields.flatMap { [$0.name, $0.value] })
    }
}
