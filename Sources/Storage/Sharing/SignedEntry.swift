internal import Dictionaries

/// The signature of what a node tells about holders, and of its orders to forget, under the key that the nodes have in common.
///
/// Both decide what is removed, and nothing else about such an entry of a stream can be checked. So a node with that key
/// heeds only what another one with it has told, and counts holders once.
package enum SignedEntry {
    package typealias Field = (name: [UInt8], value: [UInt8])

    private static let time = Array("t".utf8)
    private static let code = Array("c".utf8)

    /// Returns the fields of an entry with the time in milliseconds and the code.
    package static func sign(_ fields: [Field], at milliseconds: Int64, _ keys: StoreKeys) -> [Field] {
        let signed = fields + [(time, BigEndian.bytes(milliseconds))]
        return signed + [(code, keys.entryCode(of: signed))]
    }

    /// Returns the time at which an entry was signed; nil if it was not, or has changed since.
    package static func time(of fields: [Field], _ keys: StoreKeys) -> Int64? {
        guard let last = fields.last, last.name == code, let stamp = fields.dropLast().last,
            stamp.name == time,
            keys.entryCode(of: fields.dropLast()) == last.value
        else { return nil }
        return BigEndian.number(stamp.value[...])
    }
}

extension StoreKeys {
    fileprivate func entryCode(of fields: [SignedEntry.Field]) -> [UInt8] {
        var message = LengthPrefixed("holders")
        for field in fields {
            message.append(field.name)
            message.append(field.value)
        }
        return sharing.code(of: message.bytes)
    }
}
