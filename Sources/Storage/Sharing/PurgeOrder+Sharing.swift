/// Orders as the nodes tell them to each other, in the stream of announced versions.
extension PurgeOrder {
    /// The name of an entry's field that has an order.
    package static let entry = Array("x".utf8)
    /// The greatest number of users in an entry.
    package static let ownersMax = 48
    private static let textMax = 4_096
    private static let age = Array("a".utf8)

    /// Returns the field of an entry that says how many milliseconds before its signature the order was given.
    package static func field(ofAge milliseconds: Int64) -> SignedEntry.Field {
        (age, BigEndian.bytes(milliseconds))
    }

    /// Returns what an entry says about the age of its order; 0 for nothing, and never less.
    package static func age(of fields: [SignedEntry.Field]) -> Int64 {
        guard let value = fields.first(where: { $0.name == age })?.value,
            let milliseconds: Int64 = BigEndian.number(value[...])
        else { return 0 }
        return max(0, milliseconds)
    }

    private enum Field: UInt8 {
        case host = 1
        case path, route, owner
        /// There are owners, though none of them may be listed.
        case isOfOwners
    }

    /// Returns the order as the value of an entry's field; a reader that knows a field less ignores the order.
    package var sharedBytes: [UInt8] {
        var fields = NumberedFields()
        if let host { fields.append(Field.host.rawValue, host) }
        if let path { fields.append(Field.path.rawValue, path) }
        if let route { fields.append(Field.route.rawValue, route) }
        if let owners {
            fields.append(Field.isOfOwners.rawValue, [])
            for owner in owners { fields.append(Field.owner.rawValue, owner.bytes) }
        }
        return fields.bytes
    }

    /// Reads an order; nil if it is not one, or has a condition that this release does not know.
    package init?(sharedBytes: [UInt8]) {
        guard let fields = NumberedFields.read(sharedBytes[...]), !fields.isEmpty else { return nil }
        self.init()
        for (number, value) in fields {
            guard let field = Field(rawValue: number), value.count <= Self.textMax else { return nil }
            switch field {
            case .host: host = String(decoding: value, as: UTF8.self)
            case .path: path = String(decoding: value, as: UTF8.self)
            case .route: route = String(decoding: value, as: UTF8.self)
            case .isOfOwners: owners = owners ?? []
            case .owner:
                guard let tag = IdentityTag(bytes: Array(value)) else { return nil }
                owners = (owners ?? []).union([tag])
            }
        }
    }
}
