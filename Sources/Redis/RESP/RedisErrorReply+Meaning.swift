/// What error replies say about the server, in words that tell the operator what to do.
extension RedisErrorReply {
    /// The fault of a server or connection that makes all further commands useless; nil for other errors.
    package var connectionFault: String? {
        switch code {
        case "NOAUTH": "it wants a password: set store.shared.password_file"
        case "WRONGPASS": "it refuses the user or the password: check store.shared and ACL LIST on the server"
        case "LOADING": "it is loading its data; this ends by itself"
        case "MASTERDOWN": "it is a replica whose master is down"
        case "READONLY": Self.replicaFault
        case "ERR" where message.hasPrefix("max number of clients"):
            "it has no place for another connection (max number of clients): raise maxclients, or see CLIENT LIST"
        case "BUSY": "a script blocks it: see SCRIPT KILL"
        case "MOVED", "ASK", "CLUSTERDOWN", "CROSSSLOT":
            """
            it belongs to a cluster (\(code)), which the shared store does not support: name a single Redis or Valkey \
            server
            """
        default: nil
        }
    }

    static let replicaFault =
        "it is a read-only replica: name the master, or an address that follows it, such as a virtual IP or HAProxy"

    /// True if the server was the master, and is not any more.
    var isDemotion: Bool { code == "READONLY" }

    /// Advice about an error that concerns some commands only; nil for unknown errors.
    package var advice: String? {
        switch code {
        case "OOM":
            """
            it has no memory left and evicts nothing, so new versions are not shared: set maxmemory-policy to allkeys-lru, \
            or to volatile-lru where other data must stay
            """
        case "NOPERM":
            "its ACL forbids a command or a key (\(message)): deploy/FLEET.md has the line that Dictum needs"
        case "MISCONF":
            "it cannot save its data and refuses writes: see its log, or set stop-writes-on-bgsave-error to no"
        case "NOREPLICAS": "it refuses writes, because it has too few replicas (min-replicas-to-write)"
        case "WRONGTYPE":
            "a key has another type than Dictum gives it: use another store.shared.key_prefix or database"
        default: nil
        }
    }
}
