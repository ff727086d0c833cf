package import Dictionaries
package import Storage

extension Configuration {
    package struct Compression: Sendable {
        package var codings = ContentCoding.preferred
        package var levels = CodingLevels()
        package var minSize = RoutePolicy.Defaults.bodyBytesMin
        package var typeNames = [
            "application/json", "application/*+json", "application/xml", "application/*+xml", "text/*",
            "application/javascript", "application/wasm", "image/svg+xml",
        ]
        package var verify = Verification.Mode.sampled

        /// The codings in order, and the lengths below which gzip comes first.
        var preference: CodingPreference { CodingPreference(codings, levels: levels) }

        /// The media types in their matching form; keep the result, since each call rebuilds it.
        package var types: MediaTypes { MediaTypes(typeNames) }
    }
}

extension Settings {
    static let compression: [Setting<Configuration.Compression>] = [
        .value(
            "codings", \.codings, .codings,
            """
            The server's order of preference among codings that the client accepts equally. Below 24 KiB gzip comes before \
            zstd, and below 128 KiB before br, because it is smaller or faster. A coding whose level is set below keeps its \
            place.
            """),
        .section(
            "levels", \.levels, levels,
            """
            The levels of codings without a dictionary. auto depends on the length of the body: on the whole the result is \
            smaller than with gzip -6, in no more CPU time. Streamed bodies use at most zstd 9 and br 5.
            """),
        .value("min_size", \.minSize, .size(0...1 << 30), "Smaller bodies are not compressed."),
        .value(
            "types", \.typeNames, .list(.mediaType, 0...256),
            """
            The media types to compress, and to decode for clients that do not accept the upstream's coding. A * matches any \
            characters.
            """),
        .value(
            "verify", \.verify, .choice(["sampled": .sampled, "always": .always, "never": .never]),
            onReload: .atNextStart,
            """
            The deltas to decode again before they are sent. sampled: one in a hundred, and the first of each indexed \
            dictionary. Deltas that are kept to be sent again are always verified.
            """),
    ]

    static let levels: [Setting<CodingLevels>] = [
        .value("gzip", \.gzip, .level(1...9), "The level of gzip."),
        .value("br", \.br, .level(1...11), "The quality of brotli. From 10 on, 1 MB takes seconds."),
        .value("zstd", \.zstd, .level(1...19), "The level of Zstandard. From 16 on, 1 MB takes a second."),
    ]
}

extension SettingType where Value == [ContentCoding] {
    /// The codings in order of preference, each once.
    static let codings = {
        let words = ContentCoding.preferred.map { (key: $0.token, value: $0) }
        return SettingType.list(SettingType<ContentCoding>.choice(words), 0...words.count).once("coding")
    }()
}
