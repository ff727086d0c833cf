extension Configuration {
    /// The treatment of responses on routes with dictionaries.
    package enum Mode: Sendable, Equatable {
        /// Dictionaries are used and offered.
        case live
        /// Clients get what they would get without dictionaries; the savings are measured beside the traffic.
        case observe
    }

    package struct Observe: Sendable, Equatable {
        package var cpuShare = 0.05
    }

    /// Returns true if a route is observed and sends nothing of its dictionaries.
    func observes(_ route: RouteConfiguration) -> Bool {
        route.dictionary != nil && (route.mode ?? mode) == .observe
    }

    var observedRoutes: Set<String> { Set(routes.filter(observes).map(\.text)) }
}

extension RouteConfiguration {
    /// The same route without any dictionary.
    var withoutDictionary: RouteConfiguration {
        var route = self
        route.dictionary = nil
        route.announcement = .off
        return route
    }
}

extension SettingType where Value == Configuration.Mode {
    static let mode = choice(["live": .live, "observe": .observe])
}

extension Settings {
    static let observe: [Setting<Configuration.Observe>] = [
        .value(
            "cpu", \.cpuShare, .percentage(0.1...100),
            """
            Processor time for observing, as a share of one core. If the traffic needs more, fewer clients are observed, each of \
            them completely.
            """)
    ]
}

extension SettingType where Value == Double {
    /// Makes a type for percentages, which are stored as shares.
    static func percentage(_ bounds: ClosedRange<Double>) -> SettingType {
        @Sendable func text(_ percent: Double) -> String {
            // Whole percentages have no fraction.
            Int(exactly: percent).map { "\($0)%" } ?? "\(percent)%"
        }
        return scalar(
            "a percentage from \(text(bounds.lowerBound)) to \(text(bounds.upperBound)), such as 5%",
            write: { text(($0 * 1_000_000).rounded() / 10_000) },
            read: { Quantity.percent($0).flatMap { bounds ~= $0 ? $0 / 100 : nil } })
    }
}
