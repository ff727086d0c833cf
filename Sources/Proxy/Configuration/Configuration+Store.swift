package import Redis

extension Configuration {
    package struct Store: Sendable, Equatable {
        package var path = "./dictum.sqlite"
        package var maxSize = 1 << 30
        package var maxChains = 100_000
        package var writeRate = 16 << 20
        package var keyFile: String?
        package var privateMaxSize: Int?
        package var shared: RedisSettings?

        /// The key file in use; nil for a store in memory without `key_file`, which makes a temporary key.
        package var keyFileInUse: String? { keyFile ?? (path == ":memory:" ? nil : path + ".key") }
    }
}

extension Settings {
    static let store: [Setting<Configuration.Store>] = [
        .value(
            "path", \.path, .path, onReload: .refused,
            "The file of the database, or :memory: to keep nothing across restarts."),
        .value(
            "max_size", \.maxSize, .size(mebibyte...16 * tebibyte), onReload: .atNextStart,
            """
            The maximum size of bodies and rows; the least wanted versions go first. The log of the database takes up to \
            32 MiB more. Without routes, paths that nobody has requested again share a fifth of it and of max_chains.
            """),
        .value(
            "max_chains", \.maxChains, .count(1...10_000_000), onReload: .atNextStart,
            "The maximum number of chains."),
        .value(
            "write_rate", \.writeRate, .size(1 << 10...tebibyte), onReload: .atNextStart,
            """
            The maximum number of bytes to write per second, but at most twice max_size. Responses beyond it are neither \
            stored nor offered as dictionaries.
            """),
        .value(
            "key_file", \.keyFile, .optional(.path), example: "./dictum.sqlite.key", onReload: .atNextStart,
            """
            The file with the key that ids are made and personal bodies are encrypted with. Dictum creates it if it is \
            missing. The default is the path of the database followed by .key; whoever copies that folder gets both.
            """),
        .value(
            "private_max_size", \.privateMaxSize, .optional(.size(mebibyte...16 * tebibyte)),
            example: "256MiB", onReload: .atNextStart,
            """
            The part of max_size for personal dictionaries, compressed, with 1 KiB of overhead each. The default is a \
            quarter. They do not count towards max_chains. If space is short, those of the client addresses (IPv6: /48) with \
            the most bytes go first.
            """),
        .sectionOrText(
            "shared", \.shared, sharedStore,
            // The URL is required, so that this address is never used.
            fresh: RedisSettings(address: .host("127.0.0.1", port: 6379)), text: "url",
            onReload: .atNextStart,
            """
            A Redis or Valkey server through which several proxies share their dictionaries: a URL, or a mapping. Each \
            proxy keeps its own store too, and works without the server. See deploy/FLEET.md.
            """),
    ]
}
