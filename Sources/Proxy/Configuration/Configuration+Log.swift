package import Storage

extension Configuration {
    package struct Log: Sendable, Equatable {
        package var level: LogLevel = .info
        package var format = Format.auto
        package var access = Access()

        package enum Format: Sendable, Equatable {
            /// Text on a terminal, else JSON.
            case auto
            case text, json
        }

        package struct Access: Sendable, Equatable {
            package var sample = 1.0
            package var file: String?
            package var format: Format?
            package var clientFields = ClientFields.publicRoutes

            package enum Format: Sendable, Equatable {
                case text, json
                /// The combined format of Apache and nginx.
                case combined
                /// The same behind the request's host.
                case vhostCombined
            }

            package enum ClientFields: Sendable, Equatable {
                case publicRoutes
                case all, none
            }
        }
    }
}

extension Settings {
    static let log: [Setting<Configuration.Log>] = [
        .value(
            "level", \.level,
            .choice(["debug": .debug, "info": .info, "warning": .warning, "error": .error]),
            "The minimum level of log messages."),
        .value(
            "format", \.format, .choice(["auto": .auto, "text": .text, "json": .json]),
            onReload: .atNextStart, "The format of each line. auto: text on a terminal, else JSON."),
        .sectionOrValue(
            "access", \.access, accessLog, short: \.sample, .share,
            """
            The access log: one line per request. true, false and a share such as 1% may stand in place of these settings: they \
            are the value of sample.
            """),
    ]

    private static let accessLog: [Setting<Configuration.Log.Access>] = [
        .value(
            "sample", \.sample, .share,
            """
            The share of requests that get a line, spread evenly. false and 0%: there is no access log. With any other share, \
            responses with a status of 500 or more, and those that an upstream broke off, always have a line. Each line of a \
            share carries sample_rate, except in the combined formats.
            """),
        .value(
            "file", \.file, .optional(.path), example: "/var/log/dictum/access.log", onReload: .atNextStart,
            "The file that gets the lines instead of standard output. SIGUSR1 opens it again, as log rotation needs."
        ),
        .value(
            "format", \.format,
            .choice([
                "auto": nil, "text": .text, "json": .json, "combined": .combined,
                "vhost_combined": .vhostCombined,
            ]),
            """
            The format of each line. auto: that of log.format, where auto is JSON in a file. combined: the format of Apache and nginx \
            with that name. vhost_combined: the same, with the request's host in front.
            """),
        .value(
            "client_fields", \.clientFields,
            .choice(["public": .publicRoutes, "all": .all, "none": .none]),
            """
            The routes whose lines have user_agent and referer. public: those without scope: private. The query of a referer \
            is never logged.
            """),
    ]
}
