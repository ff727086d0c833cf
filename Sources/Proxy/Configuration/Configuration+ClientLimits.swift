extension Configuration {
    /// What one client may ask for.
    package struct ClientLimits: Sendable, Equatable {
        /// Who is one client.
        package var by = Key.address
        /// How often it may ask; nil: as often as it likes.
        package var rate: Rate?
        /// How many requests may come at once; nil: those of a second.
        package var burst: Int?
        /// How many connections it may have; nil: as many as there are.
        package var connections: Int?
        /// How many bits of an IPv6 address are one client.
        package var ipv6Prefix = 64

        /// Who is one client.
        package enum Key: Sendable, Equatable {
            /// Whoever has the address.
            case address
            /// Whoever sends the value of a field.
            case header(String)
        }
    }

    /// So many in a time.
    package struct Rate: Sendable, Equatable {
        /// How many.
        package let count: Int
        /// In a second, a minute or an hour.
        package let unit: Unit

        /// The times that a rate may be for.
        package enum Unit: String, Sendable, CaseIterable {
            case second = "s"
            case minute = "m"
            case hour = "h"

            /// How long it is.
            var seconds: Int {
                switch self {
                case .second: 1
                case .minute: 60
                case .hour: 3600
                }
            }
        }

        /// Reads `100/s`, `600/m` or `1000/h`; nil for anything else.
        init?(_ text: String) {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 2, let unit = Unit(rawValue: String(parts[1])),
                let count = Quantity.count.value(of: String(parts[0]), in: 1...1_000_000)
            else { return nil }
            (self.count, self.unit) = (count, unit)
        }

        /// The nanoseconds between two.
        var interval: Int64 { Int64(unit.seconds) * 1_000_000_000 / Int64(count) }
        /// How many there are in a second, at least one.
        var countPerSecond: Int { max(1, count / unit.seconds) }
    }
}

extension SettingType where Value == Configuration.Rate {
    /// So many in a time.
    static let rate = scalar(
        "a rate of 1 to 1000000, such as 100/s, 600/m or 1000/h",
        write: { "\($0.count)/\($0.unit.rawValue)" },
        read: { Configuration.Rate($0) })
}

extension SettingType where Value == Configuration.ClientLimits.Key {
    /// What tells clients apart.
    static let clientKey = scalar(
        "address, or header:NAME",
        write: { key in
            switch key {
            case .address: "address"
            case .header(let name): "header:\(name)"
            }
        },
        read: { text in
            if text == "address" { return .address }
            guard text.hasPrefix("header:"), text[text.index(text.startIndex, offsetBy: 7)...].isToken else {
                return nil
            }
            return .header(String(text.dropFirst(7)))
        })
}
