/// What the settings of a server mean for a shared store, read from INFO; a pure function.
package enum RedisAdvice {
    package struct Finding: Sendable, Equatable {
        package let text: String
        /// True if the server cannot serve as a shared store; otherwise it works, but not as well as it could.
        package let isFault: Bool

        static func fault(_ text: String) -> Finding { Finding(text: text, isFault: true) }
        static func advice(_ text: String) -> Finding { Finding(text: text, isFault: false) }
    }

    /// Returns the findings about a server with this INFO.
    package static func findings(_ info: RedisInfo) -> [Finding] {
        var findings = [version(info)].compactMap(\.self)
        if let fault = RedisServerFacts(info).fault { findings.append(.fault(fault)) }
        if info["maxmemory"] == "0" {
            findings.append(
                .advice(
                    """
                    maxmemory is not set, so that its memory grows until the system ends it: set maxmemory, for example \
                    4gb, and maxmemory-policy allkeys-lru
                    """))
        }
        if let eviction = eviction(info) { findings.append(eviction) }
        if info["rdb_last_bgsave_status"] == "err" {
            findings.append(
                .advice(
                    """
                    its last snapshot has failed, after which it refuses writes: see its log, or set save "" since nodes \
                    publish what it forgets
                    """))
        }
        if info["aof_enabled"] == "1" {
            findings.append(
                .advice(
                    """
                    appendonly is on, so that every version is written to its disk too; a shared store does not need it, \
                    since nodes publish again what it forgets
                    """))
        }
        return findings
    }

    private static func version(_ info: RedisInfo) -> Finding? {
        // Valkey reports the version of Redis that it is compatible with too.
        let text = info["redis_version"] ?? info["valkey_version"] ?? ""
        guard let major = Int(text.prefix { $0 != "." }) else {
            return .fault("it does not tell its version; expected Redis 7 or Valkey 8")
        }
        return major >= 7 ? nil : .fault("it is version \(text); expected Redis 7 or Valkey 8")
    }

    private static func eviction(_ info: RedisInfo) -> Finding? {
        let policy = info["maxmemory_policy"] ?? ""
        switch policy {
        case "noeviction":
            return .advice(
                """
                maxmemory-policy is noeviction, so that new versions are refused once its memory is full: set allkeys-lru, \
                or volatile-lru where other data must stay
                """)
        case "allkeys-random", "volatile-random":
            return .advice(
                "maxmemory-policy is \(policy), which removes versions in use as well: set allkeys-lru")
        default: return nil
        }
    }
}
