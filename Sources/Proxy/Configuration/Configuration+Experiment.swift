extension Configuration {
    /// A comparison of clients with dictionaries and clients without.
    package struct Experiment: Sendable, Equatable {
        package var holdout = 0.05
        package var unit = Unit.client

        /// What is assigned to one side as a whole.
        package enum Unit: Sendable, Equatable {
            /// The identity of a private route, else the address.
            case client
            case address
        }
    }

    /// The responses that tell browsers' monitoring what Dictum did.
    package struct ServerTiming: Sendable, Equatable {
        package var trusted = true
        package var sample = 0.0
    }
}

extension Settings {
    static let experiment: [Setting<Configuration.Experiment>] = [
        .value(
            "holdout", \.holdout, .percentage(0.1...50),
            "The share of clients that are answered without dictionaries. A client stays on its side."),
        .value(
            "by", \.unit, .choice(["client": .client, "address": .address]),
            """
            client: the identity on private routes, else the address. address: the address on all routes; that of IPv6 clients is \
            their /48. Clients behind one address are on one side.
            """),
    ]

    static let serverTiming: [Setting<Configuration.ServerTiming>] = [
        .value("trusted", \.trusted, .flag, "on: responses to peers in trusted_proxies have the field."),
        .value("sample", \.sample, .share, "The share of other responses that have the field, such as 1%."),
    ]
}
