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
}
