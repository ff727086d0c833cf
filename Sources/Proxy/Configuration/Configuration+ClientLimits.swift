extension Configuration {
    /// The limits of one client.
    package struct ClientLimits: Sendable, Equatable {
        /// The way to tell clients apart.
        package var by = Key.address
        /// The maximum request rate; nil for no limit.
        package var rate: Rate?
        /// The number of requests that may come at once; nil for those of one second.
        package var burst: Int?
        /// The maximum number of connections; nil for no limit.
        package var connections: Int?
        /// The length of the IPv6 prefix that identifies a client.
        package var ipv6Prefix = 64

        /// The way to tell clients apart.
        package enum Key: Sendable, Equatable {
            /// By address.
            case address
            /// By the value of a request field.
            case header(String)
        }
    }

    /// A number of requests per unit of time.
    package struct Rate: Sendable, Equatable {
        package let count: Int
        package let unit: Unit

        /// The units of time.
        package enum Unit: String, Sendable, CaseIterable {
            case second = "s"
            case minute = "m"
            case hour = "h"

            /// The length of the unit.
            var seconds: Int {
                switch self {
                case .second: 1
                case .minute: 60
                case .hour: 3600
                }
            }
        }

        /// Parses `100/s`, `600/m` or `1000/h`.
        init?(_ text: String) {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 2, let unit = Unit(rawValue: String(parts[1])),
                let count = Quantity.count.value(of: String(parts[0]), in: 1...1_000_000)
            else { return nil }
            (self.count, self.unit) = (count, unit)
        }

        /// The nanoseconds between two requests.
        var interval: Int64 { Int64(unit.seconds) * 1_000_000_000 / Int64(count) }
        /// The number of requests per second, at least one.
        var countPerSecond: Int { max(1, count / unit.seconds) }
    }
}

extension SettingType where Value == Configuration.Rate {
    /// A number of requests per unit of time.
    static let rate = scalar(
        "a rate from 1 to 1000000, such as 100/s, 600/m or 1000/h",
        write: { "\($0.count)/\($0.unit.rawValue)" },
        read: { Configuration.Rate($0) })
}

extension SettingType where Value == Configuration.ClientLimits.Key {
    /// The way to tell clients apart.
    static let clientKey = scalar(
        "address or header:NAME",
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
