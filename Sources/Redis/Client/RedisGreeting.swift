/// The first commands of a connection: the version of the protocol, user, password and database; a pure value.
struct RedisGreeting {
    enum Step: Equatable {
        case send([RedisCommand])
        /// The connection can be used.
        case done(RedisServerFacts)
        /// The server cannot be used, for this reason.
        case refused(String)
    }

    private enum Phase { case hello, authentication, role, database }

    private let settings: RedisSettings
    private let password: String?
    private var phase = Phase.hello
    private var facts = RedisServerFacts()

    /// - Parameter password: The password in use, whether the settings or a file have it.
    init(_ settings: RedisSettings, password: String?) {
        self.settings = settings
        self.password = password
    }

    /// The first step.
    ///
    /// HELLO authenticates before the server looks at the rest of it.
    var hello: RedisCommand {
        var words = ["3"]
        if let password { words += ["AUTH", settings.user ?? "default", password] }
        return RedisCommand("HELLO", (words + ["SETNAME", "dictum"]).map { Array($0.utf8) })
    }

    mutating func next(_ reply: RESPValue) -> Step {
        switch phase {
        case .hello:
            if let error = reply.error { return helloRefused(error) }
            facts = RedisServerFacts(hello: reply)
            if let fault = facts.fault { return .refused(fault) }
            return select()
        case .authentication:
            if let error = reply.error { return .refused(error.connectionFault ?? words(error)) }
            return askRole()
        case .role:
            if let fault = reply.error?.connectionFault { return .refused(fault) }
            facts = RedisServerFacts(RedisInfo(reply.text ?? ""))
            if let fault = facts.fault { return .refused(fault) }
            return select()
        case .database:
            if let error = reply.error {
                return .refused(
                    error.connectionFault ?? "it has no database \(settings.database): \(words(error))")
            }
            return .done(facts)
        }
    }

    /// Servers and proxies that do not know HELLO, or may not run it, speak RESP2.
    private mutating func helloRefused(_ error: RedisErrorReply) -> Step {
        if let fault = error.connectionFault { return .refused(fault) }
        guard ["ERR", "NOPROTO", "NOPERM"].contains(error.code) else { return .refused(words(error)) }
        guard let password else { return askRole() }
        phase = .authentication
        let words = (settings.user.map { [$0] } ?? []) + [password]
        return .send([RedisCommand("AUTH", words.map { Array($0.utf8) })])
    }

    /// Asks for what HELLO would have told, in all sections, since old servers take one name; a proxy may not know it.
    private mutating func askRole() -> Step {
        phase = .role
        return .send([RedisCommand("INFO")])
    }

    private mutating func select() -> Step {
        guard settings.database != 0 else { return .done(facts) }
        phase = .database
        return .send([RedisCommand("SELECT", "\(settings.database)")])
    }

    /// Returns what an error says, without the arguments that servers repeat of a command that they do not know.
    private func words(_ error: RedisErrorReply) -> String {
        let message = error.message.split(separator: ", with args", maxSplits: 1).first ?? ""
        let text = "\(error.code) \(message)"
        guard let password, !password.isEmpty else { return text }
        return text.replacing(password, with: "…")
    }
}

/// The properties of a server that its response to HELLO names; without one, INFO tells mode and role.
package struct RedisServerFacts: Sendable, Equatable {
    /// `redis`, `valkey`, or the name of another server.
    package var server = ""
    package var version = ""
    package var mode = ""
    package var role = ""

    package init() {}

    init(hello: RESPValue) {
        for (name, value) in (hello.array ?? []).pairs {
            guard let value = value.text else { continue }
            switch name.text {
            case "server": server = value
            case "version": version = value
            case "mode": mode = value
            case "role": role = value
            default: break
            }
        }
    }

    init(_ info: RedisInfo) {
        mode = info["cluster_enabled"] == "1" ? "cluster" : ""
        role = info["role"] ?? ""
    }

    /// The reason why such a server cannot be used, if there is one.
    var fault: String? {
        // INFO says "slave" where HELLO says "replica".
        guard role != "replica", role != "slave" else { return RedisErrorReply.replicaFault }
        return switch mode {
        case "cluster":
            """
            it runs in cluster mode, which the shared store does not support: name a single Redis or Valkey server \
            (cluster-enabled no), or a proxy in front of it
            """
        case "sentinel":
            """
            it is a Sentinel, which holds no data: name the server itself, or an address that follows the master, such \
            as a virtual IP or HAProxy
            """
        default: nil
        }
    }
}
