internal import HTTP

extension Configuration {
    package struct Admin: Sendable, Equatable {
        package var address: ConfiguredAddress
        package var token: String?
        package var tokenFile: String?
        /// The token that the file had when the configuration was read.
        var tokenOfFile: String?

        package var tokenInUse: String? { token ?? tokenOfFile }

        /// Makes an admin listener, by default at its default address.
        package init(address: ConfiguredAddress = .tcp(host: "127.0.0.1", port: 9901)) {
            self.address = address
        }
    }
}

extension Settings {
    static let admin: [Setting<Configuration.Admin>] = [
        .value("address", \.address, .listenAddress, "The address to listen at."),
        .value(
            "token", \.token, .adminToken, example: "${DICTUM_ADMIN_TOKEN}",
            """
            Requests with `Authorization: Bearer ...` and this token are allowed from everywhere. Without it, requests that do \
            not come from localhost may only use the health probes.
            """),
        .value(
            "token_file", \.tokenFile, .optional(.path), example: "/etc/dictum/admin-token",
            "The file with the token, instead of token. Dictum reads it at the start and on SIGHUP."),
    ]
}

extension SettingType where Value == String? {
    fileprivate static let tokenBytes = 16...1024
    fileprivate static let adminToken = secret(bytes: tokenBytes)
}

extension Configuration {
    mutating func readAdminToken(_ reader: inout SettingsReader) {
        guard let file = admin?.tokenFile else { return }
        guard admin?.token == nil else {
            return reader.report("token is given too: expected one of them", of: "admin.token_file")
        }
        let expectation =
            "a readable file with \(SettingType<String?>.adminToken.expectation) on its first line"
        guard let text = try? SecretFile.firstLine(of: file) else {
            return reader.report("cannot be read: expected \(expectation)", of: "admin.token_file")
        }
        guard text.isSecret(bytes: SettingType.tokenBytes) else {
            // Not quoted, as it is a secret.
            return reader.report("invalid token: expected \(expectation)", of: "admin.token_file")
        }
        admin?.tokenOfFile = text
    }

    /// Warns if other machines reach the admin listener but have no way to use it.
    mutating func warnOfAdmin(_ reader: SettingsReader) {
        guard let admin, admin.tokenInUse == nil, admin.address.mayBeRemote,
            let node = reader.node(of: "admin.address")
        else { return }
        warn(
            """
            admin.address is \(node.kind), which other machines may reach, and there is no token: they get the health probes \
            only. Set admin.token_file for the page, its API and the metrics
            """, at: node.position)
    }
}
