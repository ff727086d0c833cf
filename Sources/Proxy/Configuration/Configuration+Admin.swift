extension Configuration {
    /// The admin listener.
    package struct Admin: Sendable, Equatable {
        /// The address; nil for no listener.
        package var address: ListenAddress?
        /// The token that permits changes from other machines or under other host names.
        package var token: String?

        /// Makes an admin listener, by default at its default address.
        package init(address: ListenAddress? = .tcp(host: "127.0.0.1", port: 9901)) { self.address = address }
    }

    /// The rules of logging.
    package struct Log: Sendable, Equatable {
        /// The minimum level.
        package var level = Level.info
        /// The form of each line.
        package var format = Format.auto
        /// The share of requests in the access log, from 0 to 1.
        package var accessShare = 1.0

        package enum Level: Sendable, Equatable {
            case debug, info, warning, error
        }

        package enum Format: Sendable, Equatable {
            /// Text on a terminal, else JSON.
            case auto
            case text, json
        }
    }
}

extension Settings {
    static let admin: [Setting<Configuration.Admin>] = [
        .value(
            "address", \.address, .listenAddressOrOff, "The address to listen at. off: no admin listener."),
        .value(
            "token", \.token, .secret(bytes: 16...1024), example: "${DICTUM_ADMIN_TOKEN}",
            """
            Requests with `Authorization: Bearer ...` and this token are allowed from everywhere. Without it, requests that do \
            not come from localhost may only use the health probes.
            """),
    ]

    static let log: [Setting<Configuration.Log>] = [
        .value(
            "level", \.level,
            .choice(["debug": .debug, "info": .info, "warning": .warning, "error": .error]),
            "The minimum level of log messages."),
        .value(
            "format", \.format, .choice(["auto": .auto, "text": .text, "json": .json]),
            onReload: .atNextStart, "The format of each line. auto: text on a terminal, else JSON."),
        .value(
            "access", \.accessShare, .share,
            "Logs one line per request, or a share of the requests if a percentage is given."),
    ]
}
